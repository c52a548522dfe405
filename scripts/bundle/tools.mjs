import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { checkout } from '../tasks/checkout.mjs';

// What is large and not always needed: each is bundled once into dist/lib, from where the executables
// load it when a branch needs it: PACKAGES by their names, OURS where it is imported by `await import`, or
// by its name from another package. All else is imported statically: a dynamic import of what stays
// within a bundle makes Node parse the bundle twice.
const PACKAGES = {
  // The ES modules of yaml load in half the time of its CommonJS.
  yaml: './libs/common/node_modules/yaml/browser/dist/index.js',
  semver: './libs/common/node_modules/semver/index.js',
  undici: './scripts/bundle/undici.cjs',
  nodemailer: './tools/runner-notify/node_modules/nodemailer/dist/esm/nodemailer.js',
};
/** Sources by the names of their files in dist/lib; of several, the file has the exports of all. */
const OURS = {
  backup: 'libs/backup/src/backup.ts',
  restore: 'libs/backup/src/restore.ts',
  report: 'libs/common/src/cli/report.ts',
  config: 'libs/common/src/config/file.ts',
  'retry-policy': 'libs/common/src/config/retry-policy.ts',
  'chat-secrets': 'libs/common/src/redaction/chat-secrets.ts',
  'known-secrets': 'libs/common/src/redaction/known-secrets.ts',
  'read-yaml': 'libs/common/src/yaml/read.ts',
  active: 'libs/deploy/src/active.ts',
  deploy: 'libs/deploy/src/deploy.ts',
  running: 'libs/deploy/src/instances/running.ts',
  extract: 'libs/extract/src/extract.ts',
  baseline: 'libs/extract/src/baseline-file.ts',
  nats: 'libs/fleet/src/broker/nats.ts',
  'add-registration': 'tools/runner-add/src/registration.ts',
  'audit-reading': 'tools/runner-audit/src/commands/reading.ts',
  'audit-writing': 'tools/runner-audit/src/commands/writing.ts',
  'bell-server': 'tools/runner-bell/src/server.ts',
  'debug-reading': 'tools/runner-debug/src/commands/reading.ts',
  'debug-writing': 'tools/runner-debug/src/commands/writing.ts',
  'doctor-examine': 'tools/runner-doctor/src/checks/examine.ts',
  'doctor-sandbox': 'tools/runner-doctor/src/sandbox/try.ts',
  'edit-change': 'tools/runner-edit/src/change.ts',
  'env-writing': 'tools/runner-env/src/commands/writing.ts',
  notify: [
    'tools/runner-notify/src/channels/preview.ts',
    'tools/runner-notify/src/deliver/send.ts',
    'tools/runner-notify/src/deliver/flush.ts',
    'tools/runner-notify/src/digest/digest.ts',
    'tools/runner-notify/src/setup/setup.ts',
    'tools/runner-notify/src/status/status.ts',
    'tools/runner-notify/src/status/text.ts',
    'tools/runner-notify/src/status/trial.ts',
  ],
  'report-drawing': 'tools/runner-report/src/page/drawing.ts',
  'status-windows': 'tools/runner-status/src/windows.ts',
  'tokens-account': 'tools/runner-tokens/src/account.ts',
  'tokens-master-key': 'tools/runner-tokens/src/master-key.ts',
  'tokens-remember': 'tools/runner-tokens/src/remember.ts',
  'tokens-test-all': 'tools/runner-tokens/src/test-all.ts',
};
/** Their names by the sources. */
const NAMES = Object.fromEntries(
  Object.entries(OURS).flatMap(([name, sources]) => [sources].flat().map((each) => [each, name])),
);

const OLD_NODE = `if (!process.getBuiltinModule) {
  console.error('runner: needs Node 20.18 or newer, this is ' + process.version);
  process.exit(1);
}`;

/** Without a listener the signal opens Node's inspector, and what a build left could take the program over. */
const NO_INSPECTOR = "process.on('SIGUSR1', () => {});";

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

/** The entry point of a file with several sources. */
const joined = {
  name: 'joined',
  setup(builder) {
    builder.onResolve({ filter: /^joined:/ }, ({ path }) => ({ path, namespace: 'joined' }));
    builder.onLoad({ filter: /./, namespace: 'joined' }, ({ path }) => ({
      contents: OURS[path.slice('joined:'.length)]
        .map((source) => `export * from './${source}';`)
        .join('\n'),
      resolveDir: checkout,
    }));
  },
};

const fromLib = {
  name: 'from-lib',
  setup(builder) {
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
    plugins: [joined, fromLib],
  };
  const [programs, ...lazy] = await Promise.all([
    build({
      ...ours,
      entryPoints: tools.map((tool) => ({ in: `tools/${tool}/src/main.ts`, out: `bin/${tool}` })),
      banner: { js: `#!/usr/bin/env node\n${OLD_NODE}\n${NO_INSPECTOR}` },
    }),
    build({
      ...ours,
      entryPoints: Object.entries(OURS).map(([name, sources]) => ({
        in: Array.isArray(sources) ? `joined:${name}` : sources,
        out: `lib/${name}`,
      })),
      outExtension: { '.js': '.cjs' },
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
  return {
    files: [
      ...programs.outputFiles.map((file) => [
        place(file).replace(/\.js$/, ''),
        file.contents,
        0o755,
      ]),
      ...lazy.flatMap(({ outputFiles }) =>
        outputFiles.map((file) => [place(file), file.contents, 0o644]),
      ),
    ],
    sources: [programs, ...lazy].flatMap(({ metafile }) => Object.keys(metafile.inputs)),
  };
}
