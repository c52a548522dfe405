/** Reads the statements of a deploy.rb without running it: literals have a value, all else is computed. */
import { EntryList, type SourceEntry, type SourceValue } from '../plan/entry.ts';
import { LiteralReader, type RubyValue } from './ruby-literal.ts';

/** A statement with its first line. */
export interface Statement {
  readonly text: string;
  readonly line: number;
}

const TEXT = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g;
/** A word with what makes it a symbol, a method or a key, so that `:end`, `.end` and `end:` are none. */
const TOKEN = /[.:]*[A-Za-z_]\w*[?!]?:?|\d+|[^\s\w]/g;
const LOOP = /^(?:while|until|for)$/;
const BLOCK = /^(?:if|unless|case|begin|def|class|module|while|until|for)$/;
/** After these a word begins a statement or a value; elsewhere `if` follows the statement that depends on it. */
const BEFORE_BLOCK = /^(?:|[;=(,[{|&]|then|do|else|return|and|or|not)$/;
/** Statements without an end that are read again from their second line. */
const AGAIN_MAX = 50;
const SET =
  /^(?:set|append)(?:\s+(?::|["'])(\w+)["']?\s*,\s*(.*)|\(\s*(?::|["'])(\w+)["']?\s*,\s*(.*)\))$/s;

/** `set.<name>` of each `set` and `append`; every other statement by its first word. */
export function rubyEntries(text: string, file: string): SourceEntry[] {
  const list = new EntryList(file);
  const known = new Map<string, string>();
  for (const { text: statement, line } of statementsOf(text)) {
    const [, open, bare, closed, inside] = SET.exec(statement) ?? [];
    const [name, value = ''] = [open ?? closed, bare ?? inside];
    if (name === undefined) list.add(pathOf(statement), null, line);
    else addLiteral(list, ['set', name], new LiteralReader(value, known).whole(), line);
    const last = list.all.at(-1);
    if (name !== undefined && typeof last?.value === 'string' && last.path.length === 2)
      known.set(name, last.value);
  }
  return list.all;
}

export function addLiteral(
  list: EntryList,
  path: readonly string[],
  value: RubyValue | undefined,
  line: number,
): void {
  if (Array.isArray(value)) {
    value.forEach((each, index) => {
      addLiteral(list, [...path, `[${index}]`], each, line);
    });
    if (value.length === 0) list.add(path, null, line);
  } else if (value instanceof Map) {
    for (const [key, each] of value) addLiteral(list, [...path, key], each, line);
    if (value.size === 0) list.add(path, null, line);
  } else list.add(path, (value ?? null) as SourceValue, line, value === undefined);
}

/** `task :restart`: a word, and the name of a task, a server or an event. */
function pathOf(statement: string): string[] {
  const [, word = '', name] =
    /^(\w+(?:(?:\.|::)\w+)*)[\s(]*(?:(?::|["'])([\w:.@/-]+))?/.exec(statement) ?? [];
  if (word === '') return ['code'];
  return name === undefined || /^(?:server|role|lock)$/.test(word) ? [word] : [word, name];
}

/** The statements; a block is one, but a namespace only begins and ends, so that its tasks are seen. */
function statementsOf(source: string): Statement[] {
  const lines = codeOf(source);
  const found: Statement[] = [];
  let unended = 0;
  for (let at = 0; at < lines.length; ) {
    const first = lines[at] as Statement;
    const count = unended < AGAIN_MAX ? lengthAt(lines, at) : 1;
    // Without an end, as after a bracket in a pattern, it would take all that follows.
    if (count === 0) unended += 1;
    const own = Math.max(1, count);
    const text = lines
      .slice(at, at + own)
      .map((each) => each.text)
      .join('\n');
    if (text !== 'end') found.push({ text: text.replaceAll('\\\n', ' '), line: first.line });
    at += own;
  }
  return found;
}

/** How many lines the statement has that begins there; 0 if it does not end. */
function lengthAt(lines: readonly Statement[], from: number): number {
  if (/^(?:namespace\b.*\bdo|end)$/.test((lines[from] as Statement).text)) return 1;
  let [depth, blocks] = [0, 0];
  for (let at = from; at < lines.length; at += 1) {
    const { text } = lines[at] as Statement;
    depth = Math.max(0, depth + bracketsOf(text));
    blocks = Math.max(0, blocks + blocksOf(text));
    const goesOn = /(?:,|\\|\|\||&&|[+.])$/.test(text);
    if (depth === 0 && blocks === 0 && !goesOn) return at - from + 1;
  }
  return 0;
}

/** The lines of code: without comments, and without the text of a heredoc. */
export function codeOf(source: string): Statement[] {
  const found: Statement[] = [];
  let comment = false;
  let heredoc: string | undefined;
  const all = source.replace(/^\ufeff/, '').split(/\r?\n/);
  const lastAt = new Map(all.map((raw, index) => [raw.trim(), index]));
  for (const [index, raw] of all.entries()) {
    if (heredoc !== undefined) {
      if (raw.trim() === heredoc) heredoc = undefined;
      continue;
    }
    if (raw === '__END__') break;
    if (/^=(?:begin|end)\b/.test(raw)) comment = raw.startsWith('=begin');
    const text = comment || raw.startsWith('=') ? '' : withoutComment(raw).trim();
    if (text === '') continue;
    found.push({ text, line: index + 1 });
    const named = /<<[~-]?["']?([A-Z][A-Z_]*)\b/.exec(text)?.[1];
    if (named !== undefined && (lastAt.get(named) ?? 0) > index) heredoc = named;
  }
  return found;
}

/** The line up to a `#` that begins a comment, not a value in a text. */
function withoutComment(line: string): string {
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] as string;
    if (character === '\\') at += 1;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'" || character === '`') quote = character;
    else if (character === '#' && (at === 0 || /\s/.test(line[at - 1] as string)))
      return line.slice(0, at);
  }
  return line;
}

export function bracketsOf(line: string): number {
  const plain = line.replace(TEXT, '');
  return (plain.match(/[([{]/g)?.length ?? 0) - (plain.match(/[)\]}]/g)?.length ?? 0);
}

/** Blocks that the line begins, less those that it ends. */
export function blocksOf(line: string): number {
  let [count, before, isLoop] = [0, '', false];
  for (const token of line.replace(TEXT, "''").match(TOKEN) ?? []) {
    const begins = BLOCK.test(token) && BEFORE_BLOCK.test(before);
    // The `do` of a loop begins no block of its own.
    if (begins || (token === 'do' && !isLoop)) count += 1;
    if (token === 'end') count -= 1;
    if (begins) isLoop = LOOP.test(token);
    else if (token === 'do') isLoop = false;
    before = token;
  }
  return count;
}
