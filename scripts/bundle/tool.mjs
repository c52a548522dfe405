import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, posix, relative } from 'node:path';
import { build } from 'esbuild';
import { checkout } from '../checkout.mjs';
import { planFiles } from './chunks.mjs';
import { leaveOutVendored, vendorFileOf } from './vendor.mjs';
import { WRAPPER } from './wrapper.mjs';

/** What a file's name begins with where another file requires it: a path relative to dist. */
const SCHEME = 'dist:';

const launcher = readFileSync(new URL('launcher.cjs', import.meta.url), 'utf8');

const common = {
  absWorkingDir: checkout,
  bundle: true,
  write: false,
  platform: 'node',
  // An ES module joins the file; CommonJS would be wrapped, and its exports copied at each start.
  mainFields: ['module', 'main'],
  target: 'node20',
  logLevel: 'silent',
};

/**
 * First pass: ES modules with splitting, so that every module exists once however many lazy parts
 * import it. Gives the chunks as chunks.mjs describes them, by path.
 */
async function split(entry, define, vendoredFound) {
  const result = await build({
    ...common,
    entryPoints: [entry],
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

/** What one file of the plan consists of, as an ES module over its chunks, which are `/<chunk>`. */
function fileText({ entry, home, files }, file) {
  const { lead, exports, door } = files.get(file);
  if (door !== undefined) return `export * from ${JSON.stringify(`/${door}`)};`;
  const parts = [...exports].map(([part, names]) => {
    const list = [...names].map(([name, exported]) => `${name} as ${exported}`);
    return `export { ${list.join(', ')} } from ${JSON.stringify(`/${part}`)};`;
  });
  const runs = file === home.get(entry) ? [`import ${JSON.stringify(`/${lead}`)};`] : [];
  return [...runs, ...parts].join('\n');
}

/**
 * The esbuild plugin of the second pass: chunks of the file itself are bundled, those of other
 * files are required from there under the names that these export.
 */
function resolveChunks(plan, file) {
  const { chunks, home, files, lazyFile } = plan;
  const pathTo = (other) => ({ path: `${SCHEME}${other}`, external: true });
  const resolve = ({ path, kind, namespace, importer }) => {
    if (kind === 'entry-point') return { path: 'entry', namespace: 'entry' };
    const vendor = vendorFileOf(path);
    if (vendor !== undefined) return pathTo(vendor);
    if (namespace === 'elsewhere') return pathTo(path);
    const target = path.startsWith('/') ? path.slice(1) : posix.join(dirname(importer), path);
    if (!chunks.has(target)) return { path, external: true };
    if (kind === 'dynamic-import') return pathTo(lazyFile.get(target));
    return { path: target, namespace: home.get(target) === file ? 'here' : 'elsewhere' };
  };
  return {
    name: 'resolve-chunks',
    setup(builder) {
      const load = (namespace, textOf) =>
        builder.onLoad({ filter: /.*/, namespace }, ({ path }) => ({ contents: textOf(path) }));
      builder.onResolve({ filter: /.*/ }, resolve);
      load('entry', () => fileText(plan, file));
      load('here', (chunk) => chunks.get(chunk).text);
      load('elsewhere', (chunk) => {
        const names = files.get(home.get(chunk)).exports.get(chunk);
        const list = [...names].map(([name, exported]) => `${exported} as ${name}`);
        return `export { ${list.join(', ')} } from ${JSON.stringify(home.get(chunk))};`;
      });
    },
  };
}

/** Second pass, once per file: to CommonJS, as the function that launcher.cjs calls. */
async function toCommonJs(plan, file) {
  const result = await build({
    ...common,
    entryPoints: ['entry'],
    format: 'cjs',
    // Without it a lazy chunk would be loaded by Node's ES module loader, which costs milliseconds.
    supported: { 'dynamic-import': false },
    banner: { js: WRAPPER[0] },
    footer: { js: WRAPPER[1] },
    plugins: [resolveChunks(plan, file)],
  });
  // Marked in place, and made when another file asks: most starts need the exports of no file.
  return result.outputFiles[0].text
    .replace('__export(entry_exports, {', 'module.publish = () => __export(entry_exports, {')
    .replace(
      'module.exports = __toCommonJS(entry_exports);',
      'module.exports = __defProp(entry_exports, "__esModule", { value: true });',
    );
}

/** For chunks.json: what a file holds, what it loads with itself and what it loads when asked. */
function describe({ chunks, home, files, lazyFile }, file) {
  const { parts, door } = files.get(file);
  if (door !== undefined) return { inputs: [], requires: [home.get(door)], lazy: [] };
  const imports = parts.flatMap((part) => chunks.get(part).imports);
  const filesOf = (chosen, places) => {
    const found = chosen.map(({ path }) => vendorFileOf(path) ?? places.get(path));
    return [...new Set(found.filter((other) => other !== undefined && other !== file))].sort();
  };
  return {
    inputs: parts.flatMap((part) => chunks.get(part).inputs).sort(),
    requires: filesOf(
      imports.filter(({ kind }) => kind !== 'dynamic-import'),
      home,
    ),
    lazy: filesOf(
      imports.filter(({ kind }) => kind === 'dynamic-import'),
      lazyFile,
    ),
  };
}

/** Commands that start from a main file of their own, which holds nothing of the others. */
function quickCommands(tool) {
  const folder = join(checkout, 'tools', tool, 'src/quick');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((file) => basename(file, '.ts'));
}

/** Bundles the program that begins in one source file: files and chunks as bundleTool gives them. */
async function bundleProgram({ entry, ...place }, define, vendoredFound) {
  const chunks = await split(entry, define, vendoredFound);
  const plan = planFiles(place, chunks, 'split/main.js');
  const outputs = [...plan.files.keys()].sort();
  const files = await Promise.all(
    outputs.map(async (file) => [file, await toCommonJs(plan, file)]),
  );
  return { files, described: outputs.map((file) => [file, describe(plan, file)]) };
}

/**
 * Bundles one tool. Resolves its name `tool`, its `quick` commands, `files`, [file relative to dist,
 * content] pairs, and `chunks`, the tool's part of chunks.json: file -> { inputs, requires, lazy }.
 */
export async function bundleTool(tool, define, vendoredFound) {
  const quick = quickCommands(tool);
  const source = `tools/${tool}/src`;
  const whole = { entry: `${source}/main.ts`, folder: `lib/${tool}`, isQuick: false };
  const parts = quick.map((name) => {
    return { entry: `${source}/quick/${name}.ts`, folder: `lib/${tool}/${name}`, isQuick: true };
  });
  const programs = await Promise.all(
    [whole, ...parts].map((program) => bundleProgram(program, define, vendoredFound)),
  );
  const files = programs.flatMap((program) => program.files);
  const chunks = Object.fromEntries(programs.flatMap(({ described }) => described));
  return { tool, quick, files, chunks };
}

/**
 * The executable of a bundled tool, [file, content, mode]. Code that was compiled for one build is
 * not used by another: `vendored`, pairs like those of the tool, counts as well.
 */
export function launcherOf({ tool, quick, files }, vendored, version) {
  const hash = createHash('sha256');
  for (const [file, content] of [...files, ...vendored]) hash.update(`${file}\0`).update(content);
  const build = hash.digest('hex').slice(0, 12);
  const values = { TOOL: tool, BUILD: build, VERSION: version, QUICK: quick.join(' ') };
  const text = launcher.replace(/@(TOOL|BUILD|VERSION|QUICK)@/g, (_all, name) => values[name]);
  return [`bin/${tool}`, Buffer.from(text), 0o755];
}
