// Finds types that share a name: the name of an exported type (interface, type, class, enum) of the product
// is that of no other type. Also finds literals that are spread, `...{ a, b }`: written out they say the same.
//
//   node scripts/lint/names.mjs [folder of a checkout]
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesBelow } from '../bundle/place.mjs';

const root = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '../..');
const TYPE =
  /^(export )?(?:default )?(?:declare )?(?:abstract )?(?:interface|type|class|enum) ([\w$]+)/gm;
const SPREAD = /\.\.\.\{/g;

/** Where each pattern of a text is found, as `file:line`. */
const placesOf = (file, text, pattern) =>
  [...text.matchAll(pattern)].map((match) => ({
    match,
    at: `${file}:${text.slice(0, match.index).split('\n').length}`,
  }));

const sources = ['libs', 'tools']
  .flatMap((top) => filesBelow(join(root, top)).map((file) => `${top}/${file}`))
  .filter((file) => /^[^/]+\/[^/]+\/src\/.*\.ts$/.test(file))
  .map((file) => [file, readFileSync(join(root, file), 'utf8')]);

const byName = new Map();
for (const [file, text] of sources) {
  for (const { match, at } of placesOf(file, text, TYPE)) {
    const [, exported, name] = match;
    byName.set(name, [...(byName.get(name) ?? []), { at, isExported: exported !== undefined }]);
  }
}
const shared = [...byName].filter(
  ([, types]) => types.length > 1 && types.some(({ isExported }) => isExported),
);
const problems = [
  ...shared.map(
    ([name, types]) => `${types[0].at}: ${name} is also at ${types.slice(1).map(({ at }) => at)}`,
  ),
  ...sources.flatMap(([file, text]) =>
    placesOf(file, text, SPREAD).map(({ at }) => `${at}: a literal is spread: write it out`),
  ),
];
for (const problem of problems) console.error(problem);
console.error(`names: ${byName.size} types, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;
