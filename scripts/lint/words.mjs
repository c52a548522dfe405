// Finds phrases that CONTRIBUTING.md replaces, in what a person reads: texts, comments, pages. The list is
// its section `## Words`, lines of the form: - `phrase` → replacement.
//
//   node scripts/lint/words.mjs [folder of a checkout]
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesBelow } from '../bundle/place.mjs';

const root = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '../..');
const FOLDERS = ['.ci', 'bench', 'docs', 'libs', 'packaging', 'scripts', 'tests', 'tools'];
const PAGES = ['CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md'];
/** Recorded vectors, pictures, installed packages, and completion's lists of words. */
const OTHERS = /(^|\/)(node_modules|vectors|\.turbo)\/|\.(svg|png|jsonl?)$/;

const read = (file) => readFileSync(join(root, file), 'utf8');

const section = /^## Words$[\s\S]*?(?=^## |(?![\s\S]))/m;

/** [phrase, replacement, pattern] of the list; a phrase may be broken over two lines of a comment. */
function phrases() {
  const list = section.exec(read('CONTRIBUTING.md'))?.[0] ?? '';
  return [...list.matchAll(/^- `([^`]+)` → (.+)$/gm)].map(([, phrase, better]) => {
    const words = phrase.split(' ').map((word) => word.replace(/[^\w]/g, '\\$&'));
    const gap = '(?:[ \\t]+|[ \\t]*\\n[ \\t]*(?:\\*|//|#)?[ \\t]*)';
    return [phrase, better, new RegExp(`(?<![\\w-])${words.join(gap)}(?![\\w-])`, 'gi')];
  });
}

function problemsIn(file, list) {
  const text = file === 'CONTRIBUTING.md' ? read(file).replace(section, '') : read(file);
  return list.flatMap(([phrase, better, pattern]) =>
    [...text.matchAll(pattern)].map(({ index }) => {
      const line = text.slice(0, index).split('\n').length;
      return `${file}:${line}: '${phrase}': rather ${better} (CONTRIBUTING.md, Words)`;
    }),
  );
}

const list = phrases();
const files = FOLDERS.flatMap((top) => filesBelow(join(root, top)).map((file) => `${top}/${file}`));
const all = [...PAGES.filter((page) => existsSync(join(root, page))), ...files];
const problems = all.filter((file) => !OTHERS.test(file)).flatMap((file) => problemsIn(file, list));
if (list.length === 0) problems.push('CONTRIBUTING.md:1: no list of words in a section `## Words`');
for (const problem of problems) console.error(problem);
console.error(`words: ${list.length} phrases, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;
