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
  const parts = [...new Set([message, typed])].filter((part) => part !== '');
  if (parts.length === 0) return null;
  const place = [...line.matchAll(PLACE)]
    .map((found) => found[1] ?? '')
    .find((at) => !marks.isForeign(at));
  return parts.join(': ') + (place === undefined ? '' : ` (${place})`);
}

/** The text of a JSON string, its first line. */
function unescaped(text = ''): string {
  try {
    return String(JSON.parse(`"${text}"`)).split('\n', 1)[0] ?? '';
  } catch {
    return text;
  }
}
