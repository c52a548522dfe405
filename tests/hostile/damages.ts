/** What may have become of a file. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';

/** How the content of a file is written. */
export type Kind = 'json' | 'yaml' | 'text';

/** Puts something else in the place of a file; `content` is what it was. */
export type Damage = (path: string, content: Buffer, kind: Kind) => void;

const written =
  (change: (text: string, kind: Kind) => string | Uint8Array): Damage =>
  (path, content, kind) =>
    writeFileSync(path, change(content.toString('utf8'), kind));

/** Fields put before those of a JSON object, or other lines before those of YAML. */
const before = (json: string, yaml: string) =>
  written((text, kind) =>
    kind === 'json' ? text.replace('{', () => `{${json},`) : `${yaml}\n${text}`,
  );

/** Something other than a regular file stands there instead. */
const replaced =
  (make: (path: string) => void): Damage =>
  (path) => {
    rmSync(path, { force: true });
    make(path);
  };

const GIGABYTE = 2 ** 30;
const BOMB = Array.from({ length: 12 }, (_, level) =>
  level === 0 ? 'a0: &a0 [x]' : `a${level}: &a${level} [${`*a${level - 1},`.repeat(9)}]`,
).join('\n');

/** Damages by name. All leave the size of a test's disk alone. */
export const DAMAGES: Readonly<Record<string, Damage>> = {
  truncated: written((text) => text.slice(0, text.length >> 1)),
  empty: written(() => ''),
  'a lone newline': written(() => '\n'),
  'all NUL': written((text) => Buffer.alloc(Math.max(text.length, 64))),
  'NUL in the middle': written((text) => `${text.slice(0, 20)}\0${text.slice(20)}`),
  'a gigabyte': (path) => truncateSync(path, GIGABYTE),
  'a list': written(() => '[1, 2, 3]\n'),
  'a text': written(() => '"text"\n'),
  'a number': written(() => '7\n'),
  null: written(() => 'null\n'),
  'fields of other types': written((text) =>
    text.replace(
      /("?)([\w-]+)\1: *("[^"]*"|[\w:/.-]+)/g,
      (_, quote, key) => `${quote}${key}${quote}: [7]`,
    ),
  ),
  'the same key twice': written((text, kind) =>
    kind === 'json' ? text.replace('{', '{"version":1,"app":"shop",') : `${text}\n${text}`,
  ),
  'aliases that explode': before('"a":"&a *a"', BOMB),
  'brackets without an end': written(() => '['.repeat(60_000)),
  'tabs for spaces': written((text) => text.replace(/^ +/gm, '\t')),
  'lines ended as on Windows': written((text) => text.replaceAll('\n', '\r\n')),
  'a byte order mark': written((text) => `\ufeff${text}`),
  'invalid UTF-8': (path, content) =>
    writeFileSync(
      path,
      Buffer.concat([
        content.subarray(0, 12),
        Buffer.from([0xff, 0xc0, 0x80]),
        content.subarray(12),
      ]),
    ),
  'UTF-16': written((text) => Buffer.from(`\ufeff${text}`, 'utf16le')),
  __proto__: before('"__proto__":{"polluted":true,"toString":1}', '__proto__: {polluted: true}'),
  'numbers beyond 2^53': before(
    '"big":12345678901234567890,"endless":1e999',
    'big: 12345678901234567890\nendless: 1e999',
  ),
  'what moves a terminal': before('"\\u001b[2Jx":"\u202e\u009b31m"', '"\\e[2Jx\u202e\u009b31m": 1'),
  'a link to what it was': (path) => {
    renameSync(path, `${path}.elsewhere`);
    symlinkSync(`${path}.elsewhere`, path);
  },
  'a link to itself': replaced((path) => symlinkSync(path, path)),
  'a link to nowhere': replaced((path) => symlinkSync('/nonexistent/file', path)),
  'a link to /dev/zero': replaced((path) => symlinkSync('/dev/zero', path)),
  'a pipe': replaced((path) => execFileSync('mkfifo', [path])),
  'a folder': replaced((path) => mkdirSync(path)),
};
