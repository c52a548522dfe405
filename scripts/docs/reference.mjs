import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
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
 * pairs: imports `tool` of every tool's src/tool.ts and hands all to scripts/docs/reference/main.ts.
 */
export async function referenceFiles(tools, version) {
  const main = './scripts/docs/reference/main.ts';
  const defined = tools.filter((tool) => existsSync(join(checkout, 'tools', tool, 'src/tool.ts')));
  if (!existsSync(join(checkout, main))) return [];
  const names = defined.map((_, index) => `tool${index}`);
  const contents = [
    ...defined.map(
      (tool, index) => `import { tool as tool${index} } from './tools/${tool}/src/tool.ts';`,
    ),
    `import { referenceFiles } from '${main}';`,
    `export const make = (facts) => referenceFiles([${names.join(', ')}], facts);`,
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
    plugins: [leaveOutLazyParts],
    logLevel: 'silent',
  });
  const program = { exports: {} };
  const run = new Function('module', 'exports', 'require', outputFiles[0].text);
  run(program, program.exports, createRequire(join(checkout, 'package.json')));
  const source = (file) => readFileSync(join(checkout, file), 'utf8');
  const folder = 'scripts/docs/reference/completion';
  const templates = readdirSync(join(checkout, folder)).map((file) => [
    file,
    source(`${folder}/${file}`),
  ]);
  return program.exports.make({
    version,
    shim: source('tools/runner/src/runner'),
    templates: Object.fromEntries(templates),
  });
}
