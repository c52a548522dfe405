/** Reads the statements of a deploy.rb without running it: literals have a value, all else is computed. */
import { EntryList, type SourceEntry, type SourceValue } from '../plan/entry.ts';
import { LiteralReader, type RubyValue } from './ruby-literal.ts';

/** A statement with its first line. */
interface Statement {
  readonly text: string;
  readonly line: number;
}

const OPENS = /\bdo\s*(?:\|[^|]*\|)?$|^(?:if|unless|case|begin|def|class|module|while|until|for)\b/;
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
    else add(list, ['set', name], new LiteralReader(value, known).whole(), line);
    const last = list.all.at(-1);
    if (name !== undefined && typeof last?.value === 'string' && last.path.length === 2)
      known.set(name, last.value);
  }
  return list.all;
}

function add(
  list: EntryList,
  path: readonly string[],
  value: RubyValue | undefined,
  line: number,
): void {
  if (Array.isArray(value)) {
    value.forEach((each, index) => {
      add(list, [...path, `[${index}]`], each, line);
    });
    if (value.length === 0) list.add(path, null, line);
  } else if (value instanceof Map) {
    for (const [key, each] of value) add(list, [...path, key], each, line);
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
  const found: Statement[] = [];
  let [text, line, depth, blocks] = ['', 0, 0, 0];
  let comment = false;
  let heredoc: string | undefined;
  for (const [index, raw] of source
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (heredoc !== undefined) {
      if (raw.trim() === heredoc) heredoc = undefined;
      continue;
    }
    if (raw === '__END__') break;
    if (/^=(?:begin|end)\b/.test(raw)) comment = raw.startsWith('=begin');
    const own = comment || raw.startsWith('=') ? '' : withoutComment(raw).trim();
    if (own === '') continue;
    if (text === '') {
      if (/^namespace\b.*\bdo$/.test(own)) {
        found.push({ text: own, line: index + 1 });
        continue;
      }
      if (own === 'end') continue;
      line = index + 1;
    }
    heredoc = /<<[~-]?["']?([A-Z][A-Z_]*)\b/.exec(own)?.[1];
    text = text === '' ? own : `${text}\n${own}`;
    depth = Math.max(0, depth + bracketsOf(own));
    blocks = Math.max(0, blocks + (OPENS.test(own) ? 1 : 0) - (/^end\b/.test(own) ? 1 : 0));
    if (depth > 0 || blocks > 0 || /(?:,|\\|\|\||&&|[+.])$/.test(own)) continue;
    found.push({ text: text.replaceAll('\\\n', ' '), line });
    text = '';
    depth = 0;
  }
  return text === '' ? found : [...found, { text, line }];
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

function bracketsOf(line: string): number {
  const plain = line.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '');
  return (plain.match(/[([{]/g)?.length ?? 0) - (plain.match(/[)\]}]/g)?.length ?? 0);
}
