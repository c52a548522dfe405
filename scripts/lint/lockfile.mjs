// What is installed is what was reviewed: every package of pnpm-lock.yaml is pinned by its sha512,
// comes from the registry that the installing machine names (no address in the file), nothing is
// overridden or patched, and what the executables hold may be given on under its licence.
//
//   node scripts/lint/lockfile.mjs [folder of a checkout]
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Licences that ask for no more than the notice that the bundle keeps. */
const LICENCES = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD'];

const read = (file) => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');

const lockfile = read('pnpm-lock.yaml').split('\n');

/** Line by line of a top-level section, each as [number, text]. */
function section(name) {
  const start = lockfile.indexOf(`${name}:`);
  if (start === -1) return [];
  const length = lockfile.slice(start + 1).findIndex((line) => /^\S/.test(line));
  const end = length === -1 ? lockfile.length : start + 1 + length;
  return lockfile.slice(start + 1, end).map((text, index) => [start + 2 + index, text]);
}

/** The entries of a section: name, number of its line, the lines below it. */
function entries(name) {
  const found = [];
  for (const [number, text] of section(name)) {
    const [, key] = /^ {2}'?([^\s'].*?)'?:(?: \{\})?$/.exec(text) ?? [];
    if (key !== undefined) found.push({ key, number, lines: [] });
    else found.at(-1)?.lines.push(text);
  }
  return found;
}

function judgeLines() {
  return lockfile.flatMap((line, index) => {
    const what = /\b[a-z+]+:\/\/|\btarball:|\bregistry:|\bgit\+|\bdirectory:/.exec(line)?.[0];
    return what === undefined ? [] : [`pnpm-lock.yaml:${index + 1}: names an address: ${what}`];
  });
}

function judgePackages() {
  return entries('packages').flatMap(({ key, number, lines }) => {
    const pinned = lines.some((line) =>
      /^ {4}resolution: \{integrity: sha512-[\w+/]{86}==\}$/.test(line),
    );
    return pinned ? [] : [`pnpm-lock.yaml:${number}: ${key} is not pinned by its sha512 alone`];
  });
}

function judgeOverrides() {
  const words = /^(overrides|patchedDependencies|packageExtensionsChecksum)\b/;
  const problems = ['pnpm-lock.yaml', 'pnpm-workspace.yaml'].flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => {
        const word = words.exec(line)?.[1];
        return word === undefined ? [] : [`${file}:${index + 1}: ${word} are not allowed`];
      }),
  );
  const manifest = JSON.parse(read('package.json') || '{}');
  for (const field of ['overrides', 'resolutions', 'pnpm']) {
    if (manifest[field] !== undefined) problems.push(`package.json:1: ${field} is not allowed`);
  }
  return problems;
}

/** Manifests of the libraries and tools. */
function manifests() {
  return ['libs', 'tools'].flatMap((kind) => {
    if (!existsSync(join(root, kind))) return [];
    const files = readdirSync(join(root, kind)).map((name) => `${kind}/${name}/package.json`);
    return files.filter((file) => existsSync(join(root, file)));
  });
}

/** `name@version` of every package from outside that an executable may hold, also indirectly. */
function runtimePackages() {
  const snapshots = new Map(entries('snapshots').map((each) => [each.key, each.lines]));
  const found = new Set();
  const visit = (key) => {
    if (found.has(key)) return;
    found.add(key);
    for (const line of snapshots.get(key) ?? []) {
      const [, name, version] = /^ {6}'?([^\s']+)'?: (\S+)$/.exec(line) ?? [];
      if (name !== undefined) visit(`${name}@${version}`);
    }
  };
  const catalog = section('catalogs').map(([, text]) => text);
  for (const file of manifests()) {
    const { dependencies = {} } = JSON.parse(read(file));
    for (const name of Object.keys(dependencies).filter((each) => !each.startsWith('@runner/'))) {
      const at = catalog.findIndex((line) => line.trim().replaceAll("'", '') === `${name}:`);
      visit(`${name}@${/version: (\S+)/.exec(catalog[at + 2] ?? '')?.[1]}`);
    }
  }
  return [...found].sort();
}

function judgeLicence(key) {
  const name = key.slice(0, key.lastIndexOf('@'));
  const folder = `node_modules/.pnpm/${key.replaceAll('/', '+')}/node_modules/${name}`;
  const text = read(`${folder}/package.json`);
  if (text === '') return [`${key} is not installed: its licence cannot be read`];
  const { license } = JSON.parse(text);
  return LICENCES.includes(license) ? [] : [`${key}: its licence ${license} is not in the list`];
}

const runtime = runtimePackages();
const problems = [
  ...judgeLines(),
  ...judgePackages(),
  ...judgeOverrides(),
  ...runtime.flatMap(judgeLicence),
];
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(
  `lockfile: ${entries('packages').length} packages, ${runtime.length} at run time, ${problems.length} problems\n`,
);
if (problems.length > 0 || entries('packages').length === 0) process.exitCode = 1;
