/**
 * Looks for a secret in all the shapes in which it might have been written down by accident.
 * Compressed or encrypted copies are not found.
 */
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathsBelow } from './temp.ts';

/** Shorter pieces would be found by chance. */
const SHORTEST_PIECE = 6;

/** One way in which a secret can have been written down. */
export interface SecretForm {
  /** Such as `raw`, `base64+1` (the secret stands one byte after a multiple of three), `hex`. */
  readonly form: string;
  readonly bytes: Buffer;
}

/** The characters of base64 that depend on the secret alone when `before` bytes precede it. */
function base64Piece(secret: Buffer, before: number, encoding: 'base64' | 'base64url'): string {
  const text = Buffer.concat([Buffer.alloc(before), secret]).toString(encoding);
  const first = Math.ceil((before * 8) / 6);
  const end = Math.floor(((before + secret.length) * 8) / 6);
  return text.slice(first, end);
}

/**
 * The shapes of a secret, a text or bytes, those that look the same only once. Throws for less than
 * 6 bytes.
 */
export function secretForms(secret: string | Uint8Array): SecretForm[] {
  const isText = typeof secret === 'string';
  const raw = isText ? Buffer.from(secret, 'utf8') : Buffer.from(secret);
  if (raw.length < SHORTEST_PIECE) throw new Error('a secret to look for has at least 6 bytes');
  const hex = raw.toString('hex');
  const uri = isText ? encodeURIComponent(secret) : '';
  const texts: [string, string][] = [
    ['raw', isText ? secret : ''],
    ...[0, 1, 2].map((n): [string, string] => [`base64+${n}`, base64Piece(raw, n, 'base64')]),
    ...[0, 1, 2].map((n): [string, string] => [`base64url+${n}`, base64Piece(raw, n, 'base64url')]),
    ['uri', uri],
    ['uri lower', uri.replace(/%[0-9A-F]{2}/g, (part) => part.toLowerCase())],
    ['hex', hex],
    ['hex upper', hex.toUpperCase()],
    ['json', isText ? JSON.stringify(secret).slice(1, -1) : ''],
  ];
  const seen = new Set<string>();
  const forms: SecretForm[] = isText ? [] : [{ form: 'raw', bytes: raw }];
  for (const [form, text] of texts) {
    if (text.length < SHORTEST_PIECE || seen.has(text)) continue;
    seen.add(text);
    forms.push({ form, bytes: Buffer.from(text, 'utf8') });
  }
  return forms;
}

/** The forms of `secret` that stand in a text or in bytes; empty when there is none. */
export function findSecret(where: string | Uint8Array, secret: string): string[] {
  const bytes = typeof where === 'string' ? Buffer.from(where, 'utf8') : Buffer.from(where);
  return secretForms(secret)
    .filter(({ bytes: needle }) => bytes.includes(needle))
    .map(({ form }) => form);
}

/**
 * Where below `folder` a secret stands: in a file's content, in a name or in a symlink's target.
 * One line for each, such as `state/shop.json: base64+1`; empty when there is none.
 */
export function findBytes(folder: string, needle: string): string[] {
  const found: string[] = [];
  for (const path of pathsBelow(folder)) {
    const absolute = join(folder, path);
    const stats = lstatSync(absolute);
    for (const form of findSecret(path, needle)) found.push(`${path}: ${form} (name)`);
    if (stats.isSymbolicLink()) {
      for (const form of findSecret(readlinkSync(absolute), needle)) {
        found.push(`${path}: ${form} (link)`);
      }
    } else if (stats.isFile()) {
      for (const form of findSecret(readFileSync(absolute), needle)) found.push(`${path}: ${form}`);
    }
  }
  return found;
}
