import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { entries } from '../bundle/entries.mjs';
import { checkout } from '../tasks/checkout.mjs';

/** What a command loads when it runs is not needed to read its definition. */
const leaveOutLazyParts = {
  name: 'leave-out-lazy-parts',
  setup(builder) {
    builder.onResolve({ filter: /.*/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};

/**
 * Manual pages, completions, JSON Schemas and the page of commands, as [file relative to dist, text]
 * pairs: scripts/docs/reference/main.ts makes them of what every tool hands to `main`.
 */
export async function referenceFiles(tools, version) {
  const main = './scripts/docs/reference/main.ts';
  if (!existsSync(join(checkout, main))) return [];
  const contents = [
    ...tools.map((tool) => `import 'tool:${tool}';`),
    `export { referenceFiles } from '${main}';`,
  ].join('\n');
  const { outputFiles } = await build({
    absWorkingDir: checkout,
    stdin: { contents, resolveDir: checkout, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    define: { __VERSION__: JSON.stringify(version) },
    plugins: [entries, leaveOutLazyParts],
    alias: { '@runner/common/cli/main': './scripts/docs/reference/collect.ts' },
    logLevel: 'silent',
  });
  const program = { exports: {} };
  const run = new Function('module', 'exports', 'require', outputFiles[0].text);
  run(program, program.exports, createRequire(join(checkout, 'package.json')));
  const source = (file) => readFileSync(join(checkout, file), 'utf8');
  const sources = (folder) =>
    readdirSync(join(checkout, folder)).map((file) => [file, source(`${folder}/${file}`)]);
  const notes = sources('scripts/docs/reference/notes');
  return program.exports.referenceFiles({
    version,
    shim: source('tools/runner/src/runner'),
    templates: Object.fromEntries(sources('scripts/docs/reference/completion')),
    notes: Object.fromEntries(notes.map(([file, text]) => [file.replace(/\.txt$/, ''), text])),
  });
}
