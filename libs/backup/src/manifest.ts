/** The manifest: the first entry of a backup, which describes the others. */
import { isAppName } from '@runner/common/foundation/names';
import { jsonObject } from '@runner/common/text/json';
import { byteString, type TarEntry, unreadable } from './tar.ts';

/** Path of the manifest. */
export const MANIFEST = 'backup.json';

/** What a manifest says. */
export interface Manifest {
  /** When the backup was made, as ISO 8601. */
  readonly created: string;
  readonly apps: readonly string[];
  /** Name of the user whose root it was; empty if it had none. */
  readonly owner: string;
  /** The most that its files may have in all, without the manifest; absent in old backups. */
  readonly bytes?: number | undefined;
  /** The most entries there may be, without the manifest; absent in old backups. */
  readonly entries?: number | undefined;
}

/** The entry of a manifest, and its bytes. */
export function manifestEntry(
  about: Manifest & { readonly root: string; readonly shared: boolean },
): {
  readonly entry: TarEntry;
  readonly bytes: Buffer;
} {
  const bytes = Buffer.from(`${JSON.stringify({ version: 1, ...about })}\n`);
  const rest = { mode: 0o600, mtime: 0, owner: '', target: '', size: bytes.length };
  return { entry: { path: byteString(MANIFEST), type: 'file', ...rest }, bytes };
}

/** A manifest with a name for each of very many apps is smaller, in bytes. */
const SIZE_MAX = 16_777_216;

/** Reads a manifest. Throws `backup_unreadable`. */
export async function readManifest(
  entry: TarEntry,
  chunks: AsyncIterable<Buffer>,
): Promise<Manifest> {
  if (entry.path !== MANIFEST || entry.size > SIZE_MAX) throw unknownFormat();
  const parts: Buffer[] = [];
  for await (const part of chunks) parts.push(part);
  const about = jsonObject(Buffer.concat(parts).toString());
  if (about?.version !== 1) throw unknownFormat();
  const { created, apps, owner = '', bytes, entries } = about;
  if (typeof created !== 'string' || !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(created))
    throw malformed('date');
  if (!Array.isArray(apps)) throw malformed('list of apps');
  if (typeof owner !== 'string') throw malformed('owner');
  // Of a file in `state/` that no app has, the name is left out.
  const names = apps.map(String).filter(isAppName);
  return { created, apps: names, owner, bytes: limitOf(bytes), entries: limitOf(entries) };
}

function limitOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw malformed('size');
}

const unknownFormat = () => unreadable('this version of runner does not know its format');
const malformed = (what: string) => unreadable(`its manifest has no valid ${what}`);
