/** What keeps a migration from its database, known before anything is built. */
import type { MigrationRules } from '@runner/common/deploy-file/migrate';
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import { onPath } from '../instances/drivers/availability.ts';
import { databaseAddress } from './address.ts';
import { programsOf } from './programs.ts';

/** Sentences without the URL: that it cannot be read, and which programs are not on PATH. */
export function migrationLacks(
  { database, isRehearsed, backup }: MigrationRules,
  url: string,
  { PATH = '' }: Env,
): string[] {
  try {
    const { kind } = databaseAddress(url, '/');
    if (!isRehearsed && backup !== 'auto') return [];
    return [programsOf(kind, 'client'), programsOf(kind, 'dump')]
      .filter((names) => names.length > 0 && !names.some((name) => onPath(name, { PATH })))
      .map((names) => `migrate: ${names.join(' or ')} is not on PATH`);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [`migrate: ${database}: ${error.message}`];
  }
}
