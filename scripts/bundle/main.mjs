// Bundles the executables into dist/bin and what they load lazily into dist/lib; manual pages,
// completions and JSON Schemas go into dist/share. Writes to a staged copy of dist inside node_modules,
// which turbo keeps; place.mjs brings it to dist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { referenceFiles } from '../docs/reference.mjs';
import { checkout, say } from '../tasks/checkout.mjs';
import { packagesOf } from './packages.mjs';
import { removeOthers, stage, writeIfChanged } from './place.mjs';
import { problemsOf } from './programs.mjs';
import { bundleTools } from './tools.mjs';

const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));

const tools = readdirSync(join(checkout, 'tools')).sort();

/** Programs that are not TypeScript and go out as they are, the version filled in. */
function scriptFiles() {
  const scripts = tools.map((tool) => [`tools/${tool}/src/${tool}`, `bin/${tool}`]);
  scripts.push(['libs/deploy/src/git/askpass.sh', 'lib/askpass']);
  return scripts
    .filter(([source]) => existsSync(join(checkout, source)))
    .map(([source, file]) => {
      const text = readFileSync(join(checkout, source), 'utf8').replaceAll('@VERSION@', version);
      return [file, Buffer.from(text), 0o755];
    });
}

/** What the build makes, as [path relative to dist, content, mode] triples. */
async function made() {
  const programs = tools.filter((tool) =>
    existsSync(join(checkout, 'tools', tool, 'src/commands')),
  );
  const [{ files, sources }, reference] = await Promise.all([
    bundleTools(programs, version),
    referenceFiles(programs, version),
  ]);
  return [
    ...files,
    ...scriptFiles(),
    ...reference,
    ['packages.json', `${JSON.stringify(packagesOf(sources), null, 2)}\n`],
    ['package.json', '{"type":"commonjs"}\n'],
  ];
}

try {
  const files = await made();
  for (const [file, content, mode = 0o644] of files) {
    writeIfChanged(join(stage, file), Buffer.from(content), mode);
  }
  removeOthers(stage, new Set(files.map(([file]) => file)));
} catch (error) {
  if (error.errors === undefined) throw error;
  for (const problem of problemsOf(error)) say(problem);
  process.exitCode = 1;
}
