import { dirname, posix, relative } from 'node:path';
import { build } from 'esbuild';
import { checkout } from '../checkout.mjs';
import { nameChunks } from './chunks.mjs';
import { leaveOutVendored, vendorFileOf } from './vendor.mjs';

const common = {
  absWorkingDir: checkout,
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node20',
  logLevel: 'silent',
};

/**
 * First pass: ES modules with splitting, so that every module exists once however many lazy parts
 * import it. Gives the chunks: path -> { text, inputs, imports, exports, entry }.
 */
async function split(tool, define, vendoredFound) {
  const result = await build({
    ...common,
    entryPoints: [`tools/${tool}/src/main.ts`],
    outdir: 'split',
    entryNames: 'main',
    chunkNames: '[name]-[hash]',
    format: 'esm',
    splitting: true,
    metafile: true,
    define,
    plugins: [leaveOutVendored(vendoredFound)],
  });
  const chunks = new Map();
  for (const file of result.outputFiles) {
    const path = relative(checkout, file.path);
    const about = result.metafile.outputs[path];
    const inputs = Object.entries(about.inputs)
      .filter(([, input]) => input.bytesInOutput > 0)
      .map(([input]) => input);
    chunks.set(path, {
      text: file.text,
      inputs: inputs.sort(),
      imports: about.imports,
      exports: about.exports,
      entry: about.entryPoint,
    });
  }
  return chunks;
}

/**
 * Second pass, once per output file: to CommonJS. The chunks that the entry loads anyway become
 * one file, the executable; the others import from it what they need.
 */
async function toCommonJs(plan, output) {
  const { chunks, place, door, start, lazyInterface } = plan;
  const isExecutable = output === place.get(plan.entry);
  const path = isExecutable
    ? plan.entry
    : [...place, ...door].find(([, file]) => file === output)[0];
  const pathTo = (file) => {
    const way = posix.relative(posix.dirname(output), file);
    return way.startsWith('.') ? way : `./${way}`;
  };

  const entryText = () => {
    if (!isExecutable) return `export * from ${JSON.stringify(`/${path}`)};`;
    const handed = [...lazyInterface].map(([chunk, names]) => {
      const list = [...names].map(([name, handedAs]) => `${name} as ${handedAs}`);
      return `export { ${list.join(', ')} } from ${JSON.stringify(`/${chunk}`)};`;
    });
    return [`import ${JSON.stringify(`/${plan.entry}`)};`, ...handed].join('\n');
  };

  const files = {
    name: 'chunks',
    setup(builder) {
      builder.onResolve({ filter: /.*/ }, (question) => {
        if (question.kind === 'entry-point') return { path: 'entry', namespace: 'entry' };
        const vendor = vendorFileOf(question.path);
        if (vendor !== undefined) return { path: pathTo(vendor), external: true };
        if (question.path === 'executable') {
          return { path: pathTo(place.get(plan.entry)), external: true };
        }
        const from = question.namespace === 'chunk' ? dirname(question.importer) : '';
        const target = question.path.startsWith('/')
          ? question.path.slice(1)
          : posix.join(from, question.path);
        if (!chunks.has(target)) return { path: question.path, external: true };
        if (question.kind === 'dynamic-import') {
          return { path: pathTo(door.get(target) ?? place.get(target)), external: true };
        }
        if (isExecutable ? start.has(target) : target === path && !start.has(target)) {
          return { path: target, namespace: 'chunk' };
        }
        if (start.has(target)) return { path: target, namespace: 'handed' };
        return { path: pathTo(place.get(target)), external: true };
      });
      builder.onLoad({ filter: /.*/, namespace: 'entry' }, () => ({ contents: entryText() }));
      builder.onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path: chunk }) => ({
        contents: chunks.get(chunk).text,
      }));
      builder.onLoad({ filter: /.*/, namespace: 'handed' }, ({ path: chunk }) => {
        const names = [...(lazyInterface.get(chunk) ?? [])];
        const list = names.map(([name, handedAs]) => `${handedAs} as ${name}`);
        return { contents: `export { ${list.join(', ')} } from 'executable';` };
      });
    },
  };
  const result = await build({
    ...common,
    entryPoints: ['entry'],
    format: 'cjs',
    // Without it a lazy chunk would be loaded by Node's ES module loader, which costs milliseconds.
    supported: { 'dynamic-import': false },
    banner: isExecutable ? { js: '#!/usr/bin/env node' } : {},
    plugins: [files],
  });
  return result.outputFiles[0].contents;
}

/** For chunks.json: what a file holds, what it loads with itself and what it loads when asked. */
function describe(plan, output) {
  const { chunks, place, door } = plan;
  const executable = place.get(plan.entry);
  if ([...door.values()].includes(output)) return { inputs: [], requires: [executable], lazy: [] };
  const parts = [...place].filter(([, file]) => file === output).map(([chunk]) => chunk);
  const fileOf = ({ path, kind }) =>
    vendorFileOf(path) ??
    (kind === 'dynamic-import' ? door.get(path) : undefined) ??
    place.get(path);
  const loads = (kinds) => {
    const files = parts
      .flatMap((part) => chunks.get(part).imports.filter(({ kind }) => kinds(kind)))
      .map(fileOf)
      .filter((file) => file !== undefined && file !== output);
    return [...new Set(files)].sort();
  };
  return {
    inputs: parts.flatMap((part) => chunks.get(part).inputs).sort(),
    requires: loads((kind) => kind !== 'dynamic-import'),
    lazy: loads((kind) => kind === 'dynamic-import'),
  };
}

/**
 * Bundles one tool. Resolves its name `tool`, `files`, [file relative to dist, content, mode] triples, and
 * `chunks`, the tool's part of chunks.json: file -> { inputs, requires, lazy }.
 */
export async function bundleTool(tool, define, vendoredFound) {
  const chunks = await split(tool, define, vendoredFound);
  const plan = nameChunks(tool, chunks);
  const outputs = [...new Set([...plan.place.values(), ...plan.door.values()])].sort();
  const files = await Promise.all(
    outputs.map(async (output) => [
      output,
      await toCommonJs(plan, output),
      output === `bin/${tool}` ? 0o755 : 0o644,
    ]),
  );
  const described = outputs.map((file) => [file, describe(plan, file)]);
  return { tool, files, chunks: Object.fromEntries(described) };
}
