/** Reads a schedule.rb of whenever line by line, without running it: what is not of its language is `code`. */
import { EntryList, type SourceEntry } from '../plan/entry.ts';
import { addLiteral, blocksOf, bracketsOf, codeOf, type Statement } from './ruby.ts';
import { LiteralReader } from './ruby-literal.ts';

const KNOWN = new Map<string, string>();
/** Lines of one statement. */
const LINES_MAX = 30;
const HEADER = /^every(?:\s*\((.*)\)|\s+(.*?))\s*do$/s;
const SETTING = /^(set|env|job_type)(?:\s*\((.*)\)|\s+(.*))$/s;
const JOB = /^(\w+)(?:\s*\((.*)\)|\s+(?![=+<&|{])(.*))$/s;
const NAMED = /^(?::|["'])(\w+)["']?\s*,\s*(.*)$/s;
/** The first argument, and options. */
const ARGUMENTS =
  /^(:?"(?:[^"\\]|\\.)*"|:?'(?:[^'\\]|\\.)*'|\[[^\]]*\]|[^,"'[]+)\s*(?:,\s*(?:\{(.*)\}|(.*)))?$/s;

/**
 * `set.NAME`, `env.NAME` and `job_type.NAME`; `every` with the text of its frequency, and `every.OPTION`;
 * `job.TYPE` in it with its task, and `job.TYPE.OPTION`.
 */
export function wheneverEntries(text: string, file: string): SourceEntry[] {
  const list = new EntryList(file);
  // Whether a block of `every` is open, and how many others.
  let [isOpen, depth] = [false, 0];
  for (const { text: own, line } of statementsOf(text)) {
    const header = depth === 0 && !isOpen ? HEADER.exec(own) : null;
    if (depth === 0 && isOpen && own === 'end') isOpen = false;
    else if (header) {
      isOpen = true;
      addCall(list, { path: ['every'], line }, header[1] ?? header[2] ?? '');
    } else if (depth > 0 || blocksOf(own) !== 0 || !addLine(list, own, line, isOpen)) {
      depth = Math.max(0, depth + blocksOf(own));
      if (own !== 'end' && own !== '}') list.add(['code'], null, line);
    }
  }
  return list.all;
}

/** Whether it is a setting, or a job in a block. */
function addLine(list: EntryList, own: string, line: number, isOpen: boolean): boolean {
  const [, kind = '', inside, after = ''] = SETTING.exec(own) ?? [];
  const [, name, value = ''] = NAMED.exec(inside ?? after) ?? [];
  if (name !== undefined) {
    addLiteral(list, [kind, name], new LiteralReader(value, KNOWN).whole(), line);
    return true;
  }
  const [, type, given, bare = ''] = (isOpen && kind === '' && JOB.exec(own)) || [];
  if (type === undefined) return false;
  addCall(list, { path: ['job', type], line }, given ?? bare);
  return true;
}

/** The first argument of a call, and an entry for each option. */
function addCall(list: EntryList, call: Pick<SourceEntry, 'path' | 'line'>, text: string): void {
  const { path, line } = call;
  const [, first = '', inside, bare] = ARGUMENTS.exec(text.trim()) ?? [];
  const value = path[0] === 'every' ? first : new LiteralReader(first, KNOWN).whole();
  const given = inside ?? bare;
  const options = given === undefined ? new Map() : new LiteralReader(`{${given}}`, KNOWN).whole();
  const isKnown = first !== '' && options instanceof Map;
  addLiteral(list, path, isKnown && !(value instanceof Map) ? value : undefined, line);
  if (options instanceof Map)
    for (const [key, each] of options) addLiteral(list, [...path, key], each, line);
}

/** Lines of code; one that ends with a comma, or in brackets, goes on. */
function statementsOf(source: string): Statement[] {
  const found: Statement[] = [];
  let [open, count]: [Statement | undefined, number] = [undefined, 0];
  for (const each of codeOf(source)) {
    const own: Statement = open ? { text: `${open.text} ${each.text}`, line: open.line } : each;
    count += 1;
    const goesOn =
      count < LINES_MAX && (/,$/.test(own.text) || bracketsOf(own.text.replace(/[{}]/g, ' ')) > 0);
    if (!goesOn) found.push(own);
    [open, count] = goesOn ? [own, count] : [undefined, 0];
  }
  return open ? [...found, open] : found;
}
