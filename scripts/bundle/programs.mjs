import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { checkout } from '../tasks/checkout.mjs';
import { writeIfChanged } from './place.mjs';

/** Where bundles of tests, benchmarks and scripts go: two folders below the checkout. */
const folder = join(checkout, 'dist', 'dev');

const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));

/** Big packages stay where pnpm puts them, which keeps a bundle of everything within seconds. */
const INSTALLED = [
  ...['@discordjs/rest', '@lydell/node-pty', 'ajv', 'axe-core', 'fast-check', 'grammy'],
  ...['nodemailer', 'smtp-server', 'standardwebhooks'],
];
const external = [...INSTALLED, 'semver', 'undici', 'uvu', 'yaml'];
const findInstalled = `module.paths.push(require('node:path').join(__dirname, '../../node_modules/.pnpm/node_modules'));`;

/** A program that imports this runs the executables. */
const RUNS_TOOLS = 'libs/testing/src/run.ts';

/** `libs/common/test/tokens/vault.test.ts` becomes `libs.common.test.tokens.vault.test`. */
const outputName = (source) => source.slice(0, -'.ts'.length).replaceAll('/', '.');

/**
 * Bundles TypeScript programs, paths relative to `root`, each for itself. Resolves for each
 * { source, file, needsTools, problem }: `problem` says why there is no `file`.
 */
export async function bundlePrograms(sources, root = checkout) {
  try {
    return await bundle(sources, root);
  } catch (error) {
    if (error.errors === undefined) throw error;
    if (sources.length > 1) {
      return (await Promise.all(sources.map((source) => bundlePrograms([source], root)))).flat();
    }
    return [{ source: sources[0], needsTools: false, problem: problemsOf(error).join('\n') }];
  }
}

/** The problems that esbuild reports, as `file:line:column: sentence`. */
export function problemsOf(error) {
  return error.errors.map(({ location: at, text }) =>
    at === null ? text : `${at.file}:${at.line}:${at.column}: ${text}`,
  );
}

async function bundle(sources, root) {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: sources.map((source) => ({ in: source, out: outputName(source) })),
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    sourcesContent: false,
    metafile: true,
    define: { __VERSION__: JSON.stringify(version) },
    external,
    // Not Node's own, which would load a package as an ES module.
    supported: { 'dynamic-import': false },
    banner: { js: findInstalled },
    logLevel: 'silent',
  });
  return outputFiles.map(({ path: file, contents }) => {
    writeIfChanged(file, contents, 0o644);
    const { entryPoint: source, inputs } = metafile.outputs[relative(root, file)];
    return { source, file, needsTools: RUNS_TOOLS in inputs };
  });
}
