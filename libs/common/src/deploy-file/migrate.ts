/** `migrate` of `.deploy.yml`: what a release does to its database before it gets requests. */
import { choice, duration, keys, matching } from '../yaml/keys.ts';
import type { Schema } from '../yaml/schema.ts';
import { line } from './kinds.ts';
import { milliseconds } from './values.ts';

const DEFAULTS = { database: 'DATABASE_URL', timeout: 600_000 };

const BACKUP_FORMS = 'auto, a command, or false';

export const MIGRATE_SCHEMA: Schema = {
  description: 'How a release migrates its database, once for each deploy, before the switch',
  anyOf: [
    line('The command'),
    keys(
      {
        run: line('The command'),
        first: line('At the first deploy of the app, instead of run'),
        database: matching(
          '^[A-Za-z_][A-Za-z0-9_]{0,99}$',
          'the name of a variable',
          'Variable that has the URL of the database [default: DATABASE_URL]',
        ),
        backup: {
          ...line(
            'auto: sealed, beside the releases; or a command, whose last line says how to restore it; false: none [default: false]',
          ),
          mayBeBoolean: true,
          refused: [['^true$', `must be ${BACKUP_FORMS}`]],
          wanted: BACKUP_FORMS,
        },
        rehearse: choice(
          ['schema', 'full', 'false'],
          'What is copied to try the migration first; false: it is not tried [default: schema]',
        ),
        check: line(
          'A command that tries this version, on a full copy that the next one has migrated: 0 if it works',
        ),
        applied: line('A command that exits with 0 if the migrations are in, with 1 if not'),
        contract: line(
          'Removes what only versions from before need; run once none of them is kept any more',
        ),
        timeout: duration('Time limit of each of its commands [default: 10m]'),
      },
      undefined,
      ['run'],
    ),
  ],
};

export type MigrationRules = NonNullable<ReturnType<typeof migrationOf>>;

/** undefined without the section. */
export function migrationOf(given: unknown) {
  if (given === undefined) return undefined;
  const section = given instanceof Map ? given : new Map<string, unknown>([['run', given]]);
  const text = (key: string) => section.get(key) as string | undefined;
  const backup = text('backup');
  return {
    run: text('run') as string,
    /** At the first deploy of an app, instead of `run`. */
    first: text('first'),
    /** Name of the variable that has the URL of the database. */
    database: text('database') ?? DEFAULTS.database,
    /** A command that backs the database up; its last line says how to restore it. `auto`: runner does. */
    backup: backup === 'false' ? undefined : backup,
    /** Whether the migration is tried on a copy first, of the schema or of all. */
    isRehearsed: text('rehearse') !== 'false',
    isFull: text('rehearse') === 'full',
    /** A command of this version that tries it on a copy that the next one has migrated. */
    check: text('check'),
    /** A command that removes what only versions from before this one need. */
    contract: text('contract'),
    /** A command that exits with 0 if the migrations of the release are in, and with 1 if not. */
    applied: text('applied'),
    /** Of each of the commands, in ms. */
    timeout: milliseconds(section.get('timeout'), DEFAULTS.timeout),
  };
}
