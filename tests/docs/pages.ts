/** The pages of the documentation, and the fenced blocks in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The scripts run in the checkout. */
export const CHECKOUT = process.cwd();

/** A fenced block. */
export interface Fence {
  /** Path of the page, relative to the checkout. */
  readonly page: string;
  /** Anchors of the headings that it is under, the page's own first. */
  readonly sections: readonly string[];
  /** Number of the line with the opening fence. */
  readonly line: number;
  /** `sh`, `console`, `yaml`, …; empty when none is given. */
  readonly language: string;
  readonly text: string;
  /** What the comment `<!-- test: name=value … -->` right before the block says. */
  readonly notes: ReadonlyMap<string, string>;
}

/** Every *.md of the checkout that people read: paths relative to it. */
export function markdownFiles(): string[] {
  const found: string[] = [];
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(CHECKOUT, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (/^(node_modules|dist|release)$/.test(entry.name)) continue;
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) walk(path);
      else if (entry.name.endsWith('.md')) found.push(path);
    }
  };
  walk('');
  return found.sort();
}

/** README.md and the pages of docs/: those whose commands are run. */
export function pages(): string[] {
  return markdownFiles().filter((path) => path === 'README.md' || /^docs\/[^/]+\.md$/.test(path));
}

/** The text of a page by its path. */
export function textOf(page: string): string {
  return readFileSync(join(CHECKOUT, page), 'utf8');
}

function notesIn(line: string): Map<string, string> {
  const [, inside = ''] = /^<!-- test: (.*) -->$/.exec(line.trim()) ?? [];
  const pairs = inside.split(/\s+/).filter(Boolean);
  return new Map(
    pairs.map((pair): [string, string] => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** Whether a block is in a place: a page, or `page#anchor`. */
export function isAt({ page, sections }: Fence, place: string): boolean {
  const [path, anchor] = place.split('#');
  return page === path && (anchor === undefined || sections.includes(anchor));
}

/** The fenced blocks of a page, or of `page#anchor`, in order. */
export function fencesOf(place: string): Fence[] {
  const [page = ''] = place.split('#');
  const fences: Fence[] = [];
  const sections: string[] = [];
  const lines = textOf(page).split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const [, indent = '', ticks, language = ''] =
      /^(\s*)(`{3,})\s*([\w-]*)/.exec(lines[index] as string) ?? [];
    const [, level, heading = ''] = /^(#+) (.*)/.exec(lines[index] as string) ?? [];
    if (level) sections.splice(level.length - 1, Number.POSITIVE_INFINITY, anchorOf(heading));
    if (ticks === undefined) continue;
    const close = lines.findIndex((line, at) => at > index && line.trim() === ticks);
    if (close === -1) throw new Error(`${page}:${index + 1}: the block does not end`);
    const text = lines
      .slice(index + 1, close)
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
      .join('\n');
    const notes = notesIn(lines[index - 1] ?? '');
    fences.push({ page, sections: [...sections], line: index + 1, language, text, notes });
    index = close;
  }
  return fences.filter((fence) => isAt(fence, place));
}

/** The anchor that code hosts make of a heading. */
export function anchorOf(heading: string): string {
  const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
}

/** A page without its fenced blocks and spans of code: where links and headings stand. */
export function proseOf(page: string): string {
  return textOf(page)
    .replace(/^(\s*)(`{3,})[^\n]*\n[\s\S]*?^\s*\2$/gm, '')
    .replace(/`[^`\n]*`/g, (span) => span.replace(/[[\]()]/g, ' '));
}
