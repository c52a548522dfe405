/** What the short and the long tests of reference share. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder, run } from '@runner/testing/run';
import * as assert from 'uvu/assert';

export const man = join(distFolder(), 'share/man');

export const tools = readdirSync(join(distFolder(), 'bin')).filter((name) =>
  name.startsWith('runner-'),
);

/** A page as plain text, without what roff makes of it: requests, fonts and escapes. */
export function plain(page: string): string {
  const special: Record<string, string> = { aq: "'", dq: '"', ga: '`', ha: '^', ti: '~' };
  return page
    .replace(/\\c\n/g, '')
    .replace(/^\.(?:SH|SS) "?(.*?)"?$/gm, '\n## $1\n')
    .replace(/^\.TP$/gm, '\n')
    .replace(/^\.[a-zA-Z].*$/gm, '\n')
    .replace(/\\f[BIP]|\\&/g, '')
    .replace(/\\\((..)/g, (_, name: string) => special[name] ?? '?')
    .replace(/\\\[u([0-9A-F]+)\]/g, (_, code: string) =>
      String.fromCodePoint(Number.parseInt(code, 16)),
    )
    .replace(/\\-/g, '-')
    .replace(/\\e/g, '\\');
}

export const flat = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Rows `term  meaning` of a section of a help; lines that go on are joined. */
export function rowsOf(help: string, title: string): [term: string, meaning: string][] {
  const section = new RegExp(`\\n${title}:\\n((?: {2,}.*\\n)+)`).exec(help)?.[1] ?? '';
  // Choices go on below themselves without a space; an option without a letter stands at column 7.
  const rows = section
    .replace(/(?<=\|)\n +/g, '')
    .replace(/\n(?: {12,}(?=\S)| {5,11}(?=[^\s-]))/g, '  ')
    .trimEnd();
  if (rows === '') return [];
  return rows.split('\n').map((row) => {
    const [term = '', ...meaning] = row.trim().split(/ {2,}/);
    return [term, meaning.join(' ')];
  });
}

export async function helpOf(tool: string, ...words: string[]): Promise<string> {
  const { stdout, status } = await run(tool, [...words, '--help']);
  assert.is(status, 0, tool);
  return stdout;
}
