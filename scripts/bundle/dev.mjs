import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import { checkout } from '../checkout.mjs';
import { filesBelow } from './place.mjs';
import { partForTests } from './vendor.mjs';

/** The programs that only a checkout has: tests, benchmarks, scripts/*.ts. Paths relative to it. */
function devPrograms() {
  const all = ['libs', 'tools', 'tests', 'scripts', 'bench'].flatMap((top) =>
    filesBelow(join(checkout, top)).map((file) => `${top}/${file}`),
  );
  return all.filter(
    (file) =>
      !file.includes('node_modules/') &&
      (/^(libs|tools)\/[^/]+\/test\/.*\.test\.ts$/.test(file) ||
        /^(scripts\/test|tests)\/.*\.test\.ts$/.test(file) ||
        /^scripts\/[^/]+\.ts$/.test(file) ||
        /^bench\/[^/]+\.ts$/.test(file)),
  );
}

/** `libs/common/test/vault.test.ts` becomes `libs.common.test.vault.test`. */
function outputName(file) {
  return file.slice(0, -'.ts'.length).replaceAll('/', '.');
}

function isCommonJs(path) {
  if (path.endsWith('.cjs') || path.endsWith('.node')) return true;
  if (!path.endsWith('.js')) return false;
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) return JSON.parse(readFileSync(manifest, 'utf8')).type !== 'module';
  }
  return true;
}

/**
 * Packages stay where they are installed, named by a path relative to dist/dev, so that a checkout
 * may be moved; those that are ES modules only are bundled, since Node 20 cannot require them.
 */
const leavePackagesInstalled = {
  name: 'leave-packages-installed',
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, async (question) => {
      if (question.pluginData === 'asked' || question.path.startsWith('@runner/')) return undefined;
      if (question.path.startsWith('node:') || question.kind === 'entry-point') return undefined;
      const part = partForTests(question.path);
      if (part !== undefined && !question.importer.includes('/node_modules/'))
        return { path: `./${relative('dev', part)}`, external: true };
      const answer = await builder.resolve(question.path, {
        kind: 'require-call',
        resolveDir: question.resolveDir,
        pluginData: 'asked',
      });
      if (answer.errors.length > 0 || answer.external) return answer;
      if (!answer.path.includes('/node_modules/') || !isCommonJs(answer.path)) return undefined;
      return { path: relative(join(checkout, 'dist', 'dev'), answer.path), external: true };
    });
  },
};

function bundle(programs, define) {
  return build({
    absWorkingDir: checkout,
    entryPoints: programs.map((file) => ({ in: file, out: `dev/${outputName(file)}` })),
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    sourcesContent: false,
    define,
    plugins: [leavePackagesInstalled],
    logLevel: 'silent',
  });
}

/** Bundles all at once, which shares the work of reading; one by one when one of them is broken. */
async function bundleSound(programs, define, refuse) {
  try {
    return (await bundle(programs, define)).outputFiles;
  } catch {
    const one = (file) =>
      bundle([file], define).then(
        (result) => result.outputFiles,
        (error) => refuse(file, error) ?? [],
      );
    return (await Promise.all(programs.map(one))).flat();
  }
}

/**
 * Bundles every test, benchmark and the demo; resolves [file relative to dist, content] pairs,
 * dev/programs.json (bundle -> source) among them. `refuse(source, error)` hears of the broken.
 */
export async function bundleDevPrograms(define, refuse) {
  const programs = devPrograms();
  const outputs = await bundleSound(programs, define, refuse);
  const sources = Object.fromEntries(programs.map((file) => [`${outputName(file)}.cjs`, file]));
  return [
    ...outputs.map((file) => [relative(join(checkout, 'dist'), file.path), file.contents]),
    ['dev/programs.json', Buffer.from(`${JSON.stringify(sources, null, 2)}\n`)],
  ];
}
