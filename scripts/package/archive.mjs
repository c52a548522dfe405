import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Runs a program to its end; throws what it said when it fails. Returns its standard output. */
export function execute(program, args, env = {}) {
  const done = spawnSync(program, args, {
    env: { ...process.env, LC_ALL: 'C', ...env },
    maxBuffer: 2 ** 30,
  });
  if (done.error !== undefined) throw new Error(`${program} cannot be run: ${done.error.code}`);
  if (done.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

/** Writes a file that everybody may read, and the folders above it. */
export function writeText(path, text, mode = 0o644) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

/** Copies a file, with the right to execute when it had that. */
export function copy(from, to, mode = 0o644) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, mode);
}

/**
 * Packs a folder under its own name, for gzip or, where the target ends so, xz at a level. The same files give the same
 * bytes: sorted, of root, of one `date` (seconds since 1970), and no name or time in the head of gzip.
 */
export function makeArchive(folder, target, { date, level }) {
  const how = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--format=ustar'];
  const what = [`--mtime=@${date}`, '--directory', dirname(folder), basename(folder)];
  if (target.endsWith('.xz')) {
    const packer = `--use-compress-program=xz -T1 -${level}`;
    execute('tar', ['--create', `--file=${target}`, packer, ...how, ...what]);
    return;
  }
  const packed = execute('tar', ['--create', ...how, ...what]);
  const bytes = gzipSync(packed, { level: 9 });
  // The operating system in the head would differ.
  bytes[9] = 255;
  writeFileSync(target, bytes);
}

/** The text of SHA256SUMS for the files of a folder, as `sha256sum --check` reads it. */
export function sumsOf(folder) {
  const line = (name) => {
    const hash = createHash('sha256').update(readFileSync(join(folder, name)));
    return `${hash.digest('hex')}  ${name}\n`;
  };
  return readdirSync(folder).sort().map(line).join('');
}
