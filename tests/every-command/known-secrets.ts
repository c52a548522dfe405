/** Secrets that a staged root holds, new in every process, and the search for all of them at once. */
import { createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { secretForms } from '@runner/testing/secret-search';
import { pathsBelow } from '@runner/testing/temp';

const letters = (length: number) =>
  randomBytes(length * 2)
    .toString('base64')
    .replace(/[^A-Za-z0-9]/g, '')
    .padEnd(length, 'x')
    .slice(0, length);

/** Tokens of the shapes that code hosts issue, and one that no pattern matches. */
export const TOKENS = {
  classic: `ghp_${letters(36)}`,
  fine: `github_pat_${letters(22)}_${letters(59)}`,
  gitlab: `glpat-${letters(20)}`,
  plain: `${letters(14)}/${letters(10)}+${letters(7)}=`,
};
export const BOT_TOKEN = `${Math.floor(1e8 + Math.random() * 8e8)}:AA${letters(33)}`;
/** A bot that is to be set up, and a webhook without a server. */
export const OTHER_BOT = `${Math.floor(1e8 + Math.random() * 8e8)}:AA${letters(33)}`;
export const OTHER_WEBHOOK = letters(68);
/** Stands before the `@` of an address. */
export const URL_PASSWORD = `pw-${letters(24)}`;
/** In the environment of every command, which must not use it. */
export const FOREIGN = letters(40);

/** The content key of a value that is sealed in two layers (RFC 7518, A256GCMKW). */
export function contentKeyOf(sealed: string, mkey: Buffer): Buffer {
  const [head = '', wrapped = ''] = sealed.split('.');
  const header = JSON.parse(Buffer.from(head, 'base64url').toString('utf8'));
  const iv = Buffer.from(header.iv, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', mkey, iv);
  decipher.setAuthTag(Buffer.from(header.tag, 'base64url'));
  return Buffer.concat([decipher.update(Buffer.from(wrapped, 'base64url')), decipher.final()]);
}

export type Secrets = Readonly<Record<string, string | Uint8Array>>;

/** Looks for many secrets, in every form of each. */
export interface Searcher {
  /** `classic: base64+1` for each that stands in a text or in bytes. */
  inBytes(where: string | Uint8Array): string[];
  /**
   * `state/shop.json: classic: raw` for each below a folder: content, name, target of a link. What
   * `allowed` takes, by path and name of the secret, is passed over.
   */
  below(folder: string, allowed?: (path: string, secret: string) => boolean): string[];
}

export function searcherFor(secrets: Secrets): Searcher {
  const needles = Object.entries(secrets).flatMap(([name, secret]) =>
    secretForms(secret).map(({ form, bytes }) => ({ name, form, bytes })),
  );
  const found = new Map<string, typeof needles>();
  // Copies of one root hold the same files again and again.
  const search = (bytes: Buffer) => {
    const key = createHash('sha1').update(bytes).digest('base64');
    const known = found.get(key) ?? needles.filter(({ bytes: needle }) => bytes.includes(needle));
    found.set(key, known);
    return known;
  };
  const find = (where: string | Uint8Array, allowed: (name: string) => boolean = () => false) =>
    search(Buffer.from(where as Uint8Array))
      .filter(({ name }) => !allowed(name))
      .map(({ name, form }) => `${name}: ${form}`);
  return {
    inBytes: find,
    below(folder, allowed = () => false) {
      return pathsBelow(folder).flatMap((path) => {
        const absolute = join(folder, path);
        const stats = lstatSync(absolute);
        const content = stats.isSymbolicLink()
          ? readlinkSync(absolute)
          : stats.isFile()
            ? readFileSync(absolute)
            : '';
        return [...find(path), ...find(content, (name) => allowed(path, name))].map(
          (found) => `${path}: ${found}`,
        );
      });
    },
  };
}
