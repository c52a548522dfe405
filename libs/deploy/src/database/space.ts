/** What a copy of a database takes: bytes, time, and the space for it. */
import { statfsSync, statSync } from 'node:fs';
import type { AppState } from '@runner/common/apps/state';
import { sizeText } from '@runner/common/text/size';
import { durationText } from '@runner/common/text/time';
import type { DatabaseAddress } from './address.ts';
import { refused } from './context.ts';
import { query } from './query.ts';

/** Bytes of a database in a ms, until one was measured. */
const PACE = 20_000;

const SIZES = {
  postgres: 'SELECT pg_database_size(current_database())',
  mysql:
    'SELECT COALESCE(SUM(data_length + index_length), 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()',
};

async function sizeOf(address: DatabaseAddress): Promise<number> {
  const { kind, name } = address;
  if (kind === 'sqlite') return statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  const [[size = '0'] = []] = await query(address, SIZES[kind]);
  return Number(size);
}

/** What is about to be copied: bytes, and in words with the time that it will take. */
export async function sizeWords(app: AppState, address: DatabaseAddress) {
  const size = await sizeOf(address);
  const measured = app.database_backups?.findLast(({ ms, size: bytes }) => ms > 0 && bytes > 0);
  const time = measured ? (size * measured.ms) / measured.size : size / PACE;
  const about = durationText(Math.max(1, Math.round(time / 1000)) * 1000);
  return { size, words: `${sizeText(size)}, about ${about}` };
}

/** Throws a StepFailure unless a folder has space for a copy. */
export function requireSpace(folder: string, size: number): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= size) return;
  const words = `${sizeText(bavail * bsize)} are free, the database has ${sizeText(size)}`;
  throw refused(`not enough space for a copy: ${words}`, 'server');
}
