/**
 * The secrets that config.yml holds, to be cleaned from text. Whoever prints a text needs them, and
 * the YAML parser costs as much as the rest of a start: lines as everybody writes them are read
 * without it.
 */
import { CHAT_SECRET_KEYS, chatSecrets } from '../config/chat-credentials.ts';
import { readTextIfThere } from '../files/read.ts';
import { Failure } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';
import { SECRET_MIN } from '../secrets/plain-fields.ts';
import type { Secret } from '../secrets/secret.ts';

/** Bytes; config.ts reads no larger one. */
const CONFIG_MAX = 65_536;

/** config.yml that may hold a credential. */
export interface ChatConfig {
  readonly text: string;
  /** Of these, every credential has one; undefined when that cannot be told. */
  readonly words: readonly string[] | undefined;
}

/** config.yml; undefined when it holds no credential, or cannot be read. */
export function chatConfigOf(paths: Paths): ChatConfig | undefined {
  let text: string | undefined;
  try {
    text = readTextIfThere(paths.config, CONFIG_MAX);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
  if (text === undefined) return undefined;
  if (hasEscapedKey(text)) return { text, words: undefined };
  return CHAT_SECRET_KEYS.some((key) => text.includes(key))
    ? { text, words: wordsOf(text) }
    : undefined;
}

/** A key in quotes may be written with escapes: then only the parser can read it. */
function hasEscapedKey(text: string): boolean {
  return text.includes('\\') && /"[^"\n]{0,400}\\[^"\n]{0,400}" *:/.test(text);
}

/** Words of an address that are no part of the secret, and stand in many texts. */
const USUAL = new Set(['discord', 'webhooks', ...CHAT_SECRET_KEYS]);

/** The words in the lines of the credentials; undefined when a value may stand elsewhere, or is odd. */
function wordsOf(text: string): string[] | undefined {
  const words: string[] = [];
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const key = CHAT_SECRET_KEYS.find((each) => line.includes(each));
    if (key === undefined || line.trimStart().startsWith('#')) continue;
    const value = line.slice(line.indexOf(key) + key.length);
    const found = (value.match(/[\w-]{6,}/g) ?? []).filter((word) => !USUAL.has(word));
    words.push(...found);
    if (value.includes('\\')) return undefined;
    if (found.length > 0) continue;
    const isEmpty = /^["']?\s*:\s*(?:(?:""|''|~|null)?\s*(?:#.*)?|(?:""|'')?\s*[,}].*)$/.test(
      value,
    );
    if (!isEmpty || goesOn(lines, index, line.search(/\S/))) return undefined;
  }
  return words;
}

/** Whether the text may hold a credential as it stands in the file, or its secret part. */
export function mayHoldCredential({ words }: ChatConfig, text: string): boolean {
  if (text.length < SECRET_MIN) return false;
  return words === undefined || words.some((word) => text.includes(word));
}

/** The credentials and their secret parts; of a file with a mistake, what stands in lines of its own. */
export async function configSecrets(paths: Paths, config: ChatConfig): Promise<Secret[]> {
  const { secrets, complete } = secretsInLines(config.text);
  if (complete) return secrets;
  try {
    const [{ readConfig }, { chatSecretsOf }] = await Promise.all([
      import('../config/file.ts'),
      import('../config/settings.ts'),
    ]);
    return [...secrets, ...chatSecretsOf(readConfig(paths))];
  } catch (error) {
    if (error instanceof Failure) return secrets;
    throw error;
  }
}

/** A key at the beginning of a line and what follows it. */
const LINE = /^( *)(telegram_bot_token|discord_webhook) *:(?: +(.*))?$/;
/**
 * The values that stand behind their keys on one line. `complete` tells that there can be no other: no
 * key stands elsewhere, none is written with escapes, and no value goes on in the next line.
 */
export function secretsInLines(text: string): { secrets: Secret[]; complete: boolean } {
  const secrets: Secret[] = [];
  let complete = !hasEscapedKey(text);
  const lines = text.split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    if (!CHAT_SECRET_KEYS.some((key) => line.includes(key))) continue;
    if (/^\s*#/.test(line)) continue;
    const [, indent = '', key, rest = ''] = LINE.exec(line) ?? [];
    const value = key === undefined ? undefined : lineValue(rest.trim());
    if (value === undefined || goesOn(lines, index, indent.length)) complete = false;
    else secrets.push(...chatSecrets(key as (typeof CHAT_SECRET_KEYS)[number], value));
  }
  return { secrets, complete };
}

/** A value that is written on one line, with or without a comment; undefined when it takes a parser. */
function lineValue(text: string): string | undefined {
  if (text === '' || text.startsWith('#')) return '';
  const [all, single, double] = /^(?:'((?:[^']|'')*)'|"([^"\\]*)")/.exec(text) ?? [];
  if (all !== undefined) {
    return /^(?:\s+#.*)?$/.test(text.slice(all.length))
      ? (double ?? single?.replaceAll("''", "'"))
      : undefined;
  }
  const plain = text.replace(/\s#.*$/, '').trim();
  return /^['"&*!|>%@`?:-]|[[\]{},]|:\s/.test(plain) ? undefined : plain;
}

/** Whether the value of a key may go on: the next line that says something is further in. */
function goesOn(lines: readonly string[], index: number, indent: number): boolean {
  const next = lines.slice(index + 1).find((line) => !/^\s*(?:#.*)?$/.test(line));
  return next !== undefined && next.search(/\S/) > indent;
}
