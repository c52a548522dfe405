/** Reads what a structured log line says. */
import { marks } from './marks.ts';

const TEXT = '"((?:[^"\\\\]|\\\\.){1,600})"';
const MESSAGE = new RegExp(`"msg" ?: ?${TEXT}`);
const ERROR = new RegExp(`"(?:message|error|err|exception|reason|detail|cause)" ?: ?${TEXT}`);
const TYPE = /"(?:type|name|class|exception_class)" ?: ?"([A-Z][\w.$]{2,80}(?:Error|Exception))"/;
const PLACE = /\bat (?:[^\n\\"(]{1,120}\()?((?:file:\/\/)?\/[^\n\\"()]{1,200}:\d+:\d+)/g;

/**
 * The message, the error and the place in a line of JSON, as a person would write them; null when
 * it names none. The line may be cut off.
 */
export function sayJson(line: string): string | null {
  const message = unescaped(MESSAGE.exec(line)?.[1]);
  const error = unescaped(ERROR.exec(line)?.[1]);
  const type = TYPE.exec(line)?.[1];
  const typed =
    type === undefined || error === '' || error.startsWith(type) ? error : `${type}: ${error}`;
  const cause = causeIn(line);
  const parts = [...new Set([message, typed, cause])].filter((part) => part !== '');
  if (parts.length === 0) return null;
  const further = aside(line, parts.join(' '));
  const place = [...line.matchAll(PLACE)]
    .map((found) => found[1] ?? '')
    .find((at) => !marks.isForeign(at));
  return parts.join(': ') + further + (place === undefined ? '' : ` (${place})`);
}

/** The deepest cause: loggers nest it as an object, or write it into the stack. */
const NESTED = /"cause" ?: ?\{.{0,200}?"message" ?: ?"((?:[^"\\]|\\.){1,300})"/g;
const STACKED = /\\n[Cc]aused by: ((?:[^"\\]|\\(?!n).){1,300})/g;

function causeIn(line: string): string {
  const last = [...line.matchAll(NESTED), ...line.matchAll(STACKED)].at(-1);
  return last === undefined ? raisedIn(line) : unescaped(last[1]);
}

/** What Python's loggers write of an exception: the whole traceback, which it ends. */
const TRACEBACK =
  /"(?:exc_info|exc_text|exception|traceback|stack_trace)" ?: ?"(Traceback(?:[^"\\]|\\.){1,4000})"/;

function raisedIn(line: string): string {
  const lines = TRACEBACK.exec(line)?.[1]?.split('\\n') ?? [];
  return unescaped(
    lines.findLast((each) => /^(?:[a-z_]\w{0,80}\.){0,8}[A-Z]\w{0,80}(?::|$)/.test(each)) ?? '',
  );
}

/** Other fields of an error's line that name a thing: a host, a path, a key. At most two. */
const FURTHER = /"([a-zA-Z_]{2,24})" ?: ?"([^"\\]{3,80})"/g;
const USUAL =
  /^(?:(?:.*_)?(?:time|ts|date|id)|timestamp|at|level|severity|lvl|levelname|msg|message|error|err|exception|reason|detail|cause|type|name|class|stack|stacktrace|logger|caller|thread|host|hostname|pid|env|service|app|version|v|trace|span|.*[iI]d|code)$/;

function aside(line: string, said: string): string {
  const fields = [...line.matchAll(FURTHER)]
    .filter(([, key = '', value = '']) => !USUAL.test(key) && !said.includes(value))
    .slice(0, 2);
  return fields.length === 0
    ? ''
    : ` (${fields.map(([, key, value]) => `${key} ${value}`).join(', ')})`;
}

/** The text of a JSON string, its first line. */
function unescaped(text = ''): string {
  try {
    return String(JSON.parse(`"${text}"`)).split('\n', 1)[0] ?? '';
  } catch {
    return text;
  }
}
