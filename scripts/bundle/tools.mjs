import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { checkout } from '../tasks/checkout.mjs';
import { entries } from './entries.mjs';

// What is large and not always needed: each is bundled once into dist/lib, and loaded when something of it
// is first used. PACKAGES are known by their names; OURS by the sources that are imported by the name of their
// package, from within it too, or by `await import`.
const PACKAGES = {
  // The ES modules of yaml load in half the time of its CommonJS.
  yaml: './libs/common/node_modules/yaml/browser/dist/index.js',
  semver: './libs/common/node_modules/semver/index.js',
  croner: './libs/common/node_modules/croner/dist/croner.js',
  acorn: './tools/runner-import/node_modules/acorn/dist/acorn.mjs',
  undici: './scripts/bundle/undici.cjs',
  nodemailer: './tools/runner-notify/node_modules/nodemailer/dist/esm/nodemailer.js',
};
const OURS = {
  common: [
    ...['cli/report', 'config/file', 'config/retry-policy', 'yaml/read'],
    ...['approval', 'code-hosts', 'settings', 'telemetry', 'windows'].map(
      (name) => `config/${name}`,
    ),
    ...['redaction/chat-secrets', 'redaction/known-secrets', 'redaction/redact'],
    'secrets/redactor',
    // Of what lists apps, and where no plan waits, nothing needs it.
    'apps/approvals',
    ...['hosts/api', 'hosts/github-app', 'hosts/open', 'http/request'],
  ].map((name) => `libs/common/src/${name}.ts`),
  deploy: [
    ...[
      'changes/list',
      'changes/diff',
      'changes/verify',
      'signed/signers',
      'statement/compare',
      'statement/envelope',
      'statement/seal',
      'statement/tree',
      'fetch/fetch',
      'fetch/upkeep',
      'instances/boot-files',
      'instances/stop',
    ],
    ...['operation/operate', 'operation/withdraw', 'run/environment', 'run/step'],
    ...['instances/unit-check', 'lifecycle/boot', 'lifecycle/contract', 'lifecycle/verbs'],
    ...['lifecycle/last-words', 'watch/start'],
    ...['pipeline/check', 'pipeline/by-hand', 'pipeline/deploy', 'pipeline/explanation'],
    'prune/prune',
    ...['proof/prove', 'proof/scratch', 'remove/remove', 'rollback/rollback'],
    ...['git/contents', 'git/export', 'git/open', 'git/ref', 'git/remote'],
    ...[
      'alerts/announce',
      'alerts/token',
      'alerts/unfetched',
      'watch/carry',
      'hold/holder',
      'hold/traffic',
    ],
    ...['database/preview', 'instances/drivers/ask', 'journal/secrets', 'checks/ask'],
    ...[
      'approval/admit',
      'approval/facts',
      'plan/announce',
      'plan/approve',
      'plan/make',
      'plan/wanted',
    ],
  ].map((name) => `libs/deploy/src/${name}.ts`),
  running: [
    ...['instances/running', 'lifecycle/active', 'lifecycle/exec', 'lifecycle/output'],
    'lifecycle/show',
  ].map((name) => `libs/deploy/src/${name}.ts`),
  extract: ['libs/extract/src/extract.ts'],
  nats: ['libs/fleet/src/broker/nats.ts'],
  backup: ['age', 'backup', 'restore'].map((name) => `libs/backup/src/${name}.ts`),
  notify: [
    ...['channels/preview', 'deliver/send', 'deliver/flush', 'digest/digest', 'setup/setup'],
    ...['status/status', 'status/text', 'status/trial'],
  ].map((name) => `tools/runner-notify/src/${name}.ts`),
  report: ['tools/runner-report/src/page/draw.ts'],
};
/** The names of the bundles by their sources. */
const NAMES = Object.fromEntries(
  Object.entries(OURS).flatMap(([name, sources]) => sources.map((source) => [source, name])),
);

const OLD_NODE = `if (!process.getBuiltinModule) {
  console.error('runner: needs Node 20.18 or newer, this is ' + process.version);
  process.exit(1);
}`;

/** Without a listener the signal opens Node's inspector, and what a build left could take the program over. */
const NO_INSPECTOR = "process.on('SIGUSR1', () => {});";

/** Node's own warnings, as of Web Crypto in Node 20, are for developers. */
const NO_WARNINGS = "process.removeAllListeners('warning');";

/** What a file of dist/lib or a module of Node exports, without loading it before something of it is used. */
const LAZY =
  'var __lazy = (load, all) => new Proxy({}, { get: (_, name) => (all ??= load())[name] });';
const STATIC = /^(var \w+ = )(require\("(?:\.\.\/lib\/[\w-]+\.cjs|node:[\w/]+)"\));$/gm;

const common = {
  absWorkingDir: checkout,
  outdir: 'dist',
  bundle: true,
  write: false,
  metafile: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  // Not Node's own: that would load dist/lib through the loader of ES modules, which is slow.
  supported: { 'dynamic-import': false },
  logLevel: 'silent',
};

/** The source, relative to the checkout, that an import of our own means. */
function sourceOf(path, folder) {
  if (path.startsWith('.')) return relative(checkout, join(folder, path));
  return path.replace(/^@runner\/([^/]+)\/(.*)$/, 'libs/$1/src/$2.ts');
}

/** The names of the values that a source exports. */
function exportsOf(source) {
  const value = /^export (?:async )?(?:function\*?|const|class) (\w+)/gm;
  return [...readFileSync(join(checkout, source), 'utf8').matchAll(value)].map(([, name]) => name);
}

const fromLib = {
  name: 'from-lib',
  setup(builder) {
    builder.onResolve({ filter: /^ours:/ }, ({ path }) => ({ path, namespace: 'ours' }));
    builder.onLoad({ filter: /./, namespace: 'ours' }, ({ path }) => {
      const sources = OURS[path.slice('ours:'.length)];
      const contents = sources.map((source) => `export * from './${source}';`).join('\n');
      // Without a word `export *` leaves out a name that comes twice.
      const names = sources.flatMap(exportsOf);
      const twice = names.filter((name, index) => names.indexOf(name) !== index);
      const errors = twice.map((name) => ({ text: `two sources of ${path} export ${name}` }));
      return { contents, resolveDir: checkout, errors };
    });
    builder.onResolve({ filter: /^(\.|@runner\/)/ }, ({ path, kind, resolveDir }) => {
      const source = sourceOf(path, resolveDir);
      const name = NAMES[source];
      const isLazy = kind === 'dynamic-import' || (kind !== 'entry-point' && path.startsWith('@'));
      if (isLazy && name !== undefined) return { path: `../lib/${name}.cjs`, external: true };
      if (kind !== 'dynamic-import') return undefined;
      return { errors: [{ text: `import it statically, or name it in OURS: ${source}` }] };
    });
    const packages = new RegExp(`^(${Object.keys(PACKAGES).join('|')})$`);
    builder.onResolve({ filter: packages }, ({ path }) => ({
      path: `../lib/${path}.cjs`,
      external: true,
    }));
  },
};

/**
 * Bundles every tool into one CommonJS file, dist/bin/<tool>, beside the files that they load lazily.
 * Resolves `files`, [path relative to dist, content, mode], and the `sources` that they are made of.
 */
export async function bundleTools(tools, version) {
  const ours = {
    ...common,
    // An ES module joins the file, CommonJS is wrapped.
    mainFields: ['module', 'main'],
    define: { __VERSION__: JSON.stringify(version) },
    plugins: [entries, fromLib],
  };
  const [programs, ...lazy] = await Promise.all([
    build({
      ...ours,
      entryPoints: tools.map((tool) => ({ in: `tool:${tool}`, out: `bin/${tool}` })),
      banner: { js: `#!/usr/bin/env node\n${OLD_NODE}\n${NO_INSPECTOR}\n${NO_WARNINGS}\n${LAZY}` },
    }),
    build({
      ...ours,
      entryPoints: Object.keys(OURS).map((name) => ({ in: `ours:${name}`, out: `lib/${name}` })),
      outExtension: { '.js': '.cjs' },
      banner: { js: LAZY },
    }),
    build({
      ...common,
      entryPoints: Object.entries(PACKAGES).map(([name, source]) => ({
        in: source,
        out: `lib/${name}`,
      })),
      outExtension: { '.js': '.cjs' },
      nodePaths: ['node_modules/.pnpm/node_modules'],
      minify: true,
      legalComments: 'inline',
    }),
  ]);
  const place = ({ path }) => relative(`${checkout}/dist`, path);
  const contents = ({ text }) => Buffer.from(text.replace(STATIC, '$1__lazy(() => $2);'));
  return {
    files: [
      ...programs.outputFiles.map((file) => [
        place(file).replace(/\.js$/, ''),
        contents(file),
        0o755,
      ]),
      ...lazy.flatMap(({ outputFiles }) =>
        outputFiles.map((file) => [place(file), contents(file), 0o644]),
      ),
    ],
    sources: [programs, ...lazy].flatMap(({ metafile }) => Object.keys(metafile.inputs)),
  };
}
