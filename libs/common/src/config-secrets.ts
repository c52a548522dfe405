/**
 * The secrets that config.yml holds, to be cleaned from text. Whoever prints a text needs them, and
 * the YAML parser costs as much as the rest of a start: lines as everybody writes them are read
 * without it.
 */
import { CHAT_SECRET_KEYS, chatSecrets } from './chat-secrets.ts';
import { Failure } from './failure.ts';
import { readIfThere } from './files.ts';
import type { Paths } from './paths.ts';
import type { Secret } from './secret.ts';

/** Bytes; config.ts reads no larger one. */
const CONFIG_MAX = 65_536;

/** None when the file cannot be read; of one with a mistake, what stands in lines of its own. */
export async function configSecrets(paths: Paths): Promise<Secret[]> {
  const text = textOf(paths);
  if (text === undefined) return [];
  const { secrets, complete } = secretsInLines(text);
  if (complete) return secrets;
  try {
    const [{ readConfig }, { chatSecretsOf }] = await Promise.all([
      import('./config.ts'),
      import('./settings.ts'),
    ]);
    return [...secrets, ...chatSecretsOf(readConfig(paths))];
  } catch (error) {
    if (error instanceof Failure) return secrets;
    throw error;
  }
}

function textOf(paths: Paths): string | undefined {
  try {
    return readIfThere(paths.config, CONFIG_MAX)?.toString('utf8');
  } catch (error) {
    if (error instanceof Failure) return undefined;
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
  let complete = !text.includes('\\');
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
