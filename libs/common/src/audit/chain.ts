/** The hash chain of the audit log: each record vouches for everything since the record before it. */
import type { JsonObject } from '../text/json.ts';

/** What ties a record to the previous one: its last two fields. */
export interface Link {
  /** From 1. */
  readonly seq: number;
  /** First 32 hexadecimal digits of the hash of the lines since the chained record before. */
  readonly prev: string;
}

export const FIRST_LINK: Link = { seq: 1, prev: '0'.repeat(32) };

/** A record that can be named outside the log: its number and the start of its hash. */
export interface ChainHead {
  readonly seq: number;
  /** 64 hexadecimal digits, or the first of them. */
  readonly hash: string;
}

/** Digits of a head outside the log: 128 bits, which no one can forge. */
const HEAD_DIGITS = 32;

/** SHA-256 in hexadecimal digits. */
export function hashOf(bytes: Uint8Array | string): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', bytes, 'hex');
}

/** The link to lines with this hash. */
export function linkTo(seq: number, hash: string): Link {
  return { seq: seq + 1, prev: hash.slice(0, FIRST_LINK.prev.length) };
}

/** The link of a record; undefined for one without, or with one that no writer makes. */
export function linkOf({ seq, prev }: JsonObject): Link | undefined {
  if (!Number.isSafeInteger(seq) || (seq as number) < 1) return undefined;
  if (typeof prev !== 'string' || !/^[0-9a-f]{32}$/.test(prev)) return undefined;
  return { seq: seq as number, prev };
}

/** A record's fields without its place in a chain. */
export function unlinked<T extends JsonObject>(record: T): T {
  const { seq: _seq, prev: _prev, ...fields } = record;
  return fields as T;
}

export function unlinkedLine(line: string): string {
  return line.replace(/,"seq":\d+,"prev":"[0-9a-f]{32}"\}$/, '}');
}

/** Lines `{…}\n` with their links, the first of which is `link`. */
export function chained(lines: readonly string[], link: Link): string[] {
  let next = link;
  return lines.map((line, index) => {
    const whole = `${line.slice(0, -2)},"seq":${next.seq},"prev":"${next.prev}"}`;
    if (index < lines.length - 1) next = linkTo(next.seq, hashOf(whole));
    return `${whole}\n`;
  });
}

/** A head as `--anchor` takes it: `57:` and 32 digits; messages have `57·` and 32 digits. */
export function headText({ seq, hash }: ChainHead, separator = ':'): string {
  return `${seq}${separator}${hash.slice(0, HEAD_DIGITS)}`;
}
