/** Reads a `.env` file: a variable a line, values bare or in quotes, which may hold line breaks. */
import { usage } from '@runner/common/foundation/failure';

/** A line up to the value: `export` is allowed, as shells read such files too. */
const START = /^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*/;

/** Name and value, in the file's order. Throws `usage` with the line, which it never quotes. */
export function parseDotenv(text: string): [name: string, value: string][] {
  const found = new Map<string, string>();
  const source = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  for (let at = 0; at < source.length; ) {
    const bad = (why: string) => usage(`line ${source.slice(0, at).split('\n').length} ${why}`);
    const end = lineEnd(source, at);
    const line = source.slice(at, end).trim();
    if (line === '' || line.startsWith('#')) {
      at = end + 1;
      continue;
    }
    const indent = source.slice(at, end).search(/\S/);
    const [head, name] = START.exec(source.slice(at + indent, end)) ?? [];
    if (head === undefined || name === undefined) throw bad('is not NAME=value');
    const [value, next] = valueAt(source, at + indent + head.length, bad);
    found.set(name, value);
    at = next;
  }
  return [...found];
}

function lineEnd(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end === -1 ? source.length : end;
}

/** The value that begins at `at`, and where the next line begins. */
function valueAt(source: string, at: number, bad: (why: string) => Error): [string, number] {
  const quote = source[at];
  if (quote !== '"' && quote !== "'" && quote !== '`') {
    const end = lineEnd(source, at);
    return [
      source
        .slice(at, end)
        .replace(/(?:^|\s)#.*$/, '')
        .trim(),
      end + 1,
    ];
  }
  let close = at + 1;
  while (close < source.length && source[close] !== quote)
    close += quote === '"' && source[close] === '\\' ? 2 : 1;
  if (close >= source.length) throw bad('begins a value whose quote never closes');
  const end = lineEnd(source, close);
  if (!/^[ \t]*(?:#.*)?$/.test(source.slice(close + 1, end)))
    throw bad('has text after the closing quote');
  const inner = source.slice(at + 1, close);
  return [quote === '"' ? unescaped(inner) : inner, end + 1];
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Between double quotes: `\n`, `\r`, `\t`, and a backslash before what it protects. */
function unescaped(text: string): string {
  return text.replace(/\\([nrt"\\$`])/g, (_, letter: string) => ESCAPES[letter] ?? letter);
}
