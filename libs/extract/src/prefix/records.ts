/** Opens a line that is a record, JSON or logfmt, to what it says. */
import { dropControls, stripAnsi } from '@runner/common/text/plain';
import { marks } from '../line/marks.ts';

/** What a record says, as a person would write it. */
export interface Opened {
  /** Its text line by line, then the frames of its stack trace. */
  readonly texts: readonly string[];
  readonly level: string;
  /** Whether the text goes on in the next record. */
  readonly partial: boolean;
}

type RecordFields = Readonly<Record<string, unknown>>;

const names = (text: string): readonly string[] => text.split(' ');

const TEXT = names('msg message log MESSAGE @m short_message text textPayload event body');
const LEVEL = names('level severity lvl levelname log.level @l level_name PRIORITY s');
const ERROR = names('err error exception exc_info exc_text @x reason detail cause stderr');
const STACK = names(
  'stack stacktrace stack_trace traceback error.stack_trace exc_info exception @x',
);
/** Records with one of these beside their text come from a logger. */
const LOGGED =
  /^(?:@?time(?:stamp|reported)?|ts|@t|t|date|stream|level|severity|lvl|levelname|log\.level|@l|level_name|err|error|exception|exc_info)$/;
/** RecordFields that name nothing of interest beside an error. */
const USUAL =
  /^(?:(?:.*_)?(?:time|ts|date|id)|timestamp|@.*|at|level|severity|lvl|levelname|msg|message|error|err|exception|reason|detail|cause|type|name|class|stack|stacktrace|logger|caller|source|thread|host|hostname|pid|env|service|app|version|v|trace|span|.*[iI]d|code|.*\..*|stream|log|.*(?:pass|secret|token|auth|cred|cookie|key).*)$/i;
const INNER = ['cause', 'inner', 'innererror', 'innerError', 'details', 'errors'];
const PLAIN = /^[a-zA-Z_]{2,24}$/;
const PAIR =
  /(?:[A-Z]{2,12} )?([\w.@-]{1,60})=(?:"((?:[^"\\]|\\.){0,8000})"|([^\s"]{0,400}))(?:[ \t]{1,4}|$)/y;
/** A record that a line cites behind its own words. */
const CITED = /^(?<before>[^{]{1,160}?)(?<record>\{"[\s\S]{20,}\})$/;

/** What the record says; null if the line is not one, or says nothing in words. */
export function openRecord(line: string): Opened | null {
  const first = line.trimStart();
  if (first[0] === '{') return first.endsWith('}') ? say(parse(first)) : null;
  if (first.includes('=') && /\b(?:msg|message)=/.test(first)) return say(pairs(first));
  if (!first.endsWith('}')) return null;
  const cited = CITED.exec(first)?.groups;
  const opened = cited?.record === undefined ? null : say(parse(cited.record));
  if (cited?.before === undefined || opened === null) return null;
  const [text = '', ...rest] = opened.texts;
  // A tag, as relays write it, and not words of the line.
  const tag = /^\S{1,80}: ?$/.test(cited.before) && !/error|fatal/i.test(cited.before);
  return { ...opened, texts: [(tag ? '' : cited.before) + text, ...rest] };
}

function parse(text: string): RecordFields | null {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is RecordFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a line that is nothing but pairs. */
function pairs(line: string): RecordFields | null {
  const fields: Record<string, unknown> = {};
  PAIR.lastIndex = 0;
  for (let count = 0; PAIR.lastIndex < line.length || count === 0; count += 1) {
    const found = PAIR.exec(line);
    if (found === null) return null;
    const [, key = '', quoted, bare] = found;
    fields[key] = quoted?.includes('\\')
      ? (parse(`{"v":"${quoted}"}`)?.v ?? quoted)
      : (quoted ?? bare);
  }
  return fields;
}

/** The first of the fields that has words. */
function field(fields: RecordFields, names: readonly string[]): string | undefined {
  const found = names.map((name) => fields[name]).find((value) => typeof value === 'string');
  return typeof found === 'string' ? found : undefined;
}

function say(fields: RecordFields | null): Opened | null {
  if (fields === null) return null;
  const inner =
    [fields.fields, fields.jsonPayload, fields.attr, fields.context, fields.data].find(isFields) ??
    {};
  const message = field(fields, TEXT) ?? field(inner, TEXT);
  const error = errorOf({ ...inner, ...fields });
  if (message === undefined ? error === null : !Object.keys(fields).some((key) => LOGGED.test(key)))
    return null;
  const [first = '', ...more] = clean(message ?? '').split('\n');
  const level = levelOf(LEVEL.map((name) => fields[name]).find((value) => value !== undefined));
  if (error === null) return { texts: last([first, ...more]), level, partial: isPartial(fields) };
  const said = [...new Set([first, error.said, error.cause])]
    .filter((part) => part !== '')
    .join(': ');
  return {
    texts: [said + aside(fields, said), ...last(more), ...error.stack],
    level,
    partial: false,
  };
}

/** A text without the newline that ends it. */
function last(lines: readonly string[]): readonly string[] {
  return lines.length > 1 && lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** Container runtimes divide long lines: only the last part ends with a newline. */
function isPartial({ log }: RecordFields): boolean {
  return typeof log === 'string' && log.length >= 8000 && !log.endsWith('\n');
}

function clean(text: string): string {
  return dropControls(stripAnsi(text.replace(/\r(?=\n|$)/g, '').replace(/[^\n]*\r/g, '')));
}

/** The type of an exception that says more than that it is one. */
const TYPED = /\w(?:Error|Exception)$/;

interface Said {
  readonly said: string;
  readonly cause: string;
  readonly stack: readonly string[];
}

/** What went wrong: the error's type and message, its deepest cause, and its stack trace. */
function errorOf(fields: RecordFields): Said | null {
  const object = ['err', 'error', 'exception'].map((name) => fields[name]).find(isFields);
  const own = object ?? {};
  const words = clean(
    (object
      ? field(own, ['message', 'msg', 'reason'])
      : field(fields, [...ERROR, 'error.message'])) ?? '',
  );
  const trace = clean(field(own, STACK) ?? field(fields, STACK) ?? '').split('\n');
  const type =
    field(own, ['type', 'name', 'class']) ?? field(fields, ['error.type', 'exception_class']) ?? '';
  // Of a traceback the last line is the message.
  const raised = words.startsWith('Traceback (')
    ? (trace.findLast((line) => /^[A-Z\w.]{3,200}(?::|$)/.test(line)) ?? '')
    : (/^.*(?:(?<=:)\n.*)?/.exec(words)?.[0].replace(/\n\s*/, ' ') ?? '');
  const typed =
    type === '' || raised === '' || raised.startsWith(type) || !TYPED.test(type)
      ? raised
      : `${type}: ${raised}`;
  const stack = trace
    .filter((line) => marks.frame.test(line.trim()) && !marks.foreign.test(line))
    .slice(0, 3);
  return typed === '' && stack.length === 0 ? null : { said: typed, cause: causeOf(own), stack };
}

/** The message of the deepest of nested causes. */
function causeOf(error: RecordFields): string {
  let deepest = '';
  let at = innerOf(error);
  for (let depth = 0; depth < 8 && at !== undefined; depth += 1) {
    const type = field(at, ['type', 'name']) ?? '';
    const message = field(at, ['message', 'msg']) ?? '';
    if (message !== '') deepest = TYPED.test(type) ? `${type}: ${message}` : message;
    at = innerOf(at);
  }
  return deepest;
}

/** The error inside an error. */
function innerOf(error: RecordFields): RecordFields | undefined {
  return INNER.map((name) => [error[name]].flat()[0]).find(isFields);
}

/** Up to two other fields that name a thing: a host, a path, a key. */
function aside(fields: RecordFields, said: string): string {
  const named = Object.entries(fields)
    .filter(
      ([key, value]) =>
        PLAIN.test(key) &&
        !USUAL.test(key) &&
        typeof value === 'string' &&
        value.length > 2 &&
        value.length <= 80 &&
        !value.includes('\n') &&
        !said.includes(value),
    )
    .slice(0, 2);
  return named.length === 0
    ? ''
    : ` (${named.map(([key, value]) => `${key} ${value}`).join(', ')})`;
}

/** pino and bunyan number their levels, syslog the other way round. */
function levelOf(value: unknown): string {
  if (typeof value === 'string' && !/^\d+$/.test(value)) return value;
  const number = Number(value ?? Number.NaN);
  if (Number.isNaN(number)) return '';
  if (number < 10) return number <= 3 ? 'error' : number === 4 ? 'warn' : 'info';
  return number >= 50 ? 'error' : number >= 40 ? 'warn' : 'info';
}
