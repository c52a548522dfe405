/** Opens a backup that was made for the key of the tests. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { decrypted } from '@runner/backup/age';
import { readTar, type TarEntry } from '@runner/backup/tar';
import { IDENTITY } from '@runner/testing/age-key';

/** The entries of a backup, with their bytes. */
export async function entriesOf(file: string): Promise<(TarEntry & { readonly bytes: Buffer })[]> {
  const parts: Uint8Array[] = [];
  const input = (async function* () {
    yield new Uint8Array(readFileSync(file));
  })();
  for await (const part of decrypted(input, { identity: IDENTITY })) parts.push(part);
  const found: (TarEntry & { readonly bytes: Buffer })[] = [];
  const chunks = (async function* () {
    yield gunzipSync(Buffer.concat(parts));
  })();
  await readTar(chunks, async (entry, contents) => {
    const bytes: Buffer[] = [];
    for await (const each of contents) bytes.push(each);
    found.push({ ...entry, bytes: Buffer.concat(bytes) });
  });
  return found;
}
