/** Names that follow from the name of the file. */
import { basename } from 'node:path';

/** The file's path in the repository, as far as its name says it; `usual` for standard input. */
export function inRelease(file: string, usual: string): string {
  const path = file.replace(/^(?:\.\/)+/, '');
  if (path === '-' || path.startsWith('/dev/')) return usual;
  const outside = path.startsWith('/') || path.startsWith('-') || path.split('/').includes('..');
  const name = outside ? basename(path) : path;
  return /^[\w@.+/-]{1,200}$/.test(name) && !name.startsWith('-') ? name : usual;
}

/** An address to ask whether something listens on the port. */
export function listening(port: unknown): string | undefined {
  const number = Number(port);
  return /^\d{1,5}$/.test(String(port)) && number >= 1 && number <= 65_535
    ? `127.0.0.1:${number}`
    : undefined;
}
