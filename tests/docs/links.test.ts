/** Links of all *.md lead somewhere: files exist, headings too. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { anchorOf, CHECKOUT, markdownFiles, pages, proseOf, textOf } from './pages.ts';

/** Anchors of a page as code hosts make them of its headings. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  const text = textOf(page).replace(/^(\s*)(`{3,})[^\n]*\n[\s\S]*?^\s*\2$/gm, '');
  for (const [, heading = ''] of text.matchAll(/^#{1,6} +(.+)$/gm)) {
    const base = anchorOf(heading);
    let anchor = base;
    for (let copy = 1; anchors.has(anchor); copy += 1) anchor = `${base}-${copy}`;
    anchors.add(anchor);
  }
  for (const [, id = ''] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id);
  return anchors;
}

/** Targets of links and pictures, inline, by reference, and in HTML. */
function targetsOf(page: string): string[] {
  const prose = proseOf(page);
  return [/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g, /^\[[^\]]+\]:\s*(\S+)/gm, /(?:src|href)="([^"]+)"/g]
    .flatMap((pattern) => [...prose.matchAll(pattern)])
    .map((match) => match[1] as string)
    .filter((target) => !/^[a-z]+:/i.test(target));
}

function problemOf(page: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#', 2);
  const file = path === '' ? page : normalize(join(dirname(page), decodeURI(path)));
  if (!existsSync(join(CHECKOUT, file))) return `${page}: ${target} is not there`;
  if (anchor === undefined || statSync(join(CHECKOUT, file)).isDirectory()) return undefined;
  return anchorsOf(file).has(anchor) ? undefined : `${page}: ${target} has no such heading`;
}

test('every relative link has an existing file and heading as its target', () => {
  const all = markdownFiles().flatMap((page) => targetsOf(page).map((target) => [page, target]));
  assert.ok(all.length > 50);
  const problems = all.map(([page = '', target = '']) => problemOf(page, target)).filter(Boolean);
  assert.equal(problems, []);
});

test('the README links to every page of docs/', () => {
  const linked = targetsOf('README.md').map((target) => target.split('#')[0]);
  const unlinked = pages().filter((page) => page !== 'README.md' && !linked.includes(page));
  assert.equal(unlinked, []);
});

test.run();
