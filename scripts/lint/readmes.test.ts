/** Every package says in its README what it is, what it reads and writes, and what its files are about. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { checkoutFolder } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const packages = ['tools', 'libs'].flatMap((folder) =>
  readdirSync(join(checkoutFolder(), folder)).map((name) => join(folder, name)),
);

/** Every tool has it, with its commands. */
const EVERYWHERE = 'main.ts';

/** Rows below a heading of a table of Markdown, as cells; null without such a table. */
function tableOf(text: string, heading: string): string[][] | null {
  const [, rows] = text.split(`${heading}\n`);
  if (rows === undefined) return null;
  const lines = rows.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('|'));
  const own = end === -1 ? lines : lines.slice(0, end);
  return own.slice(1).map((line) => line.split(' | ').map((cell) => cell.replace(/^\||\|$/g, '')));
}

/** Files below `src`, by their paths from there. */
function sourcesOf(where: string): string[] {
  const src = join(checkoutFolder(), where, 'src');
  return readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(src, path)).isFile(),
  );
}

/** What a name in the table of files stands for: a file, all in a folder, or all that a `*` fits. */
function meant(name: string, sources: readonly string[]): string[] {
  if (name.endsWith('/')) return sources.filter((path) => path.startsWith(name));
  const [before = '', after] = name.split('*');
  if (after === undefined) return sources.filter((path) => path === name);
  return sources.filter((path) => path.startsWith(before) && path.endsWith(after));
}

for (const where of packages) {
  const readme = () => readFileSync(join(checkoutFolder(), where, 'README.md'), 'utf8');
  const named = () =>
    (tableOf(readme(), '| file | subject |') ?? []).flatMap(([names = '']) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string),
    );

  test(`${where} says what it is, what it reads and what it writes`, () => {
    const [title = '', blank, sentence = ''] = readme().split('\n');
    assert.ok(title.startsWith('# ') && title.endsWith(basename(where)), title);
    assert.is(blank, '');
    assert.ok(sentence.length > 20, sentence);
    const rows = tableOf(readme(), '| reads | writes |') ?? [];
    assert.is(rows.length, 1);
    for (const cell of rows[0] ?? []) assert.ok(cell.trim().length > 5, cell);
    assert.is(rows[0]?.length, 2);
  });

  test(`${where} names files that exist`, () => {
    const sources = sourcesOf(where);
    assert.equal(
      named().filter((name) => meant(name, sources).length === 0),
      [],
    );
  });

  test(`${where} leaves no file out`, () => {
    const sources = sourcesOf(where);
    const found = new Set(named().flatMap((name) => meant(name, sources)));
    const left = sources.filter((path) => !found.has(path) && path !== EVERYWHERE);
    assert.equal(left, []);
  });
}

test.run();
