// Bundles the executables into dist/bin, what they load lazily into dist/lib and dist/vendor; manual
// pages, completions and JSON Schemas go into dist/share. Writes to a staged copy of dist inside node_modules; place.mjs brings it to dist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packagesOf } from './bundle/packages.mjs';
import { removeOthers, stage, writeIfChanged } from './bundle/place.mjs';
import { referenceFiles } from './bundle/reference.mjs';
import { bundleTool, launcherOf } from './bundle/tool.mjs';
import { bundleVendored } from './bundle/vendor.mjs';
import { checkout, say } from './checkout.mjs';

const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
const define = { __VERSION__: JSON.stringify(version) };

function toolNames() {
  const folder = join(checkout, 'tools');
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/** Programs that are not TypeScript and go out as they are, the version filled in. */
function scriptFiles() {
  const scripts = toolNames().map((tool) => [`tools/${tool}/src/${tool}`, `bin/${tool}`]);
  scripts.push(['libs/deploy/src/git/askpass.sh', 'lib/askpass']);
  return scripts
    .filter(([source]) => existsSync(join(checkout, source)))
    .map(([source, file]) => {
      const text = readFileSync(join(checkout, source), 'utf8').replaceAll('@VERSION@', version);
      return [file, Buffer.from(text), 0o755];
    });
}

/** Says once what is wrong, as `file:line:column: sentence`, and lets the others be bundled. */
function refuse(program, error) {
  process.exitCode = 1;
  if (error.errors === undefined) throw error;
  for (const { location, text } of error.errors) {
    const place =
      location === null ? program : `${location.file}:${location.line}:${location.column}`;
    if (!told.has(place)) say(`${place}: ${text}`);
    told.add(place);
  }
  say(`build: ${program} could not be bundled`);
}

const told = new Set();
const found = new Map();
const tools = toolNames().filter((tool) =>
  existsSync(join(checkout, 'tools', tool, 'src/main.ts')),
);
const [bundled, reference] = await Promise.all([
  Promise.all(tools.map((tool) => bundleTool(tool, define, found).catch((e) => refuse(tool, e)))),
  referenceFiles(tools, version).catch((e) => refuse('the reference', e) ?? []),
]);
const sound = bundled.filter((tool) => tool !== undefined);
const chunks = Object.fromEntries(sound.map(({ tool, chunks }) => [tool, chunks]));

const sources = Object.values(chunks).flatMap((tool) =>
  Object.values(tool).flatMap(({ inputs }) => inputs),
);
const vendored = await bundleVendored(found, sources);
const files = [
  ...sound.flatMap((tool) => [...tool.files, launcherOf(tool, vendored, version)]),
  ...vendored,
  ...scriptFiles(),
  ...['precompile.cjs', 'precompile-server.cjs'].map((name) => [
    `lib/${name}`,
    readFileSync(join(checkout, 'scripts/bundle', name)),
  ]),
  ...reference,
  ['chunks.json', Buffer.from(`${JSON.stringify(chunks, null, 2)}\n`)],
  ['packages.json', Buffer.from(`${JSON.stringify(packagesOf(sources), null, 2)}\n`)],
  ['package.json', Buffer.from('{"type":"commonjs"}\n')],
];
for (const [file, content, mode = 0o644] of files) {
  writeIfChanged(join(stage, file), Buffer.from(content), mode);
}
removeOthers(stage, new Set(files.map(([file]) => file)));
