/** Apps with a database of SQLite, whose migration or whose restore is killed half way. */
import { existsSync } from 'node:fs';
import { until } from '@runner/testing/until';
import { TOOL } from '../database/sqlite-world.ts';
import type { Guest, GuestApp } from './guest.ts';
import type { PairState } from './pairs-table.ts';

/** Both are killed after what they do to the database and before runner notes it. */
export const isMigrated = (state: PairState) => state === 'migrating' || state === 'restoring';

/** Whether this machine, whose programs a booted server has too, has the tool of SQLite. */
export const HAS_SQLITE = existsSync('/usr/bin/sqlite3');

const databaseOf = ({ name }: GuestApp) => `/srv/${name}.db`;

const HOLD =
  'if test -e "$file.hold"; then touch "$file.held"; fi; while test -e "$file.hold"; do sleep 0.1; done';

/** SQLite's tool, which waits after a restore while the database is held. */
const SQLITE = `#!/bin/sh
case " $* " in *' -batch '*) ;; *) exec /usr/bin/sqlite3 "$@" ;; esac
input=$(cat)
printf '%s\\n' "$input" | /usr/bin/sqlite3 "$@"
status=$?
for file; do :; done
case $input in *.restore*) ${HOLD} ;; esac
exit $status
`;

const ORDERS = 'create table orders(id integer primary key, note text);\n';

/** What the versions of such an app have more than those of others. */
export function databaseParts(app: GuestApp, state: PairState, version: string) {
  if (!isMigrated(state)) return { files: {}, more: '' };
  // A restore is over a version that the one before does not work with.
  const [from, change] =
    state === 'migrating'
      ? (['v3', 'create table extra(a);\n'] as const)
      : (['v2', 'alter table orders drop column note;\n'] as const);
  const files = {
    'migrate.sh': `${TOOL}${HOLD}\n`,
    'migrations/000.sql': ORDERS,
    ...(version >= from && { 'migrations/001.sql': change }),
  };
  const more = 'migrate: { run: sh migrate.sh, rehearse: false, backup: auto }\n';
  return { files, more, env: { DATABASE_URL: `sqlite:${databaseOf(app)}` } };
}

/** Before the first deploy. */
export async function prepareDatabase(
  guest: Guest,
  app: GuestApp,
  state: PairState,
): Promise<void> {
  if (!isMigrated(state)) return;
  const script = `set -e
cat > /srv/bin/sqlite3.${app.name}; chmod +x /srv/bin/sqlite3.${app.name}
mv /srv/bin/sqlite3.${app.name} /srv/bin/sqlite3`;
  const done = await guest.sh(app.root, script, SQLITE);
  if (done.status !== 0) throw new Error(done.stderr);
}

/** Kills a command once something is there; `release` ends what would outlive it. */
export async function killWhen(
  guest: Guest,
  { name, root }: GuestApp,
  command: string,
  { isThere, release }: { isThere(): boolean; release(): unknown },
): Promise<void> {
  const ended = guest.sh(root, `${command} & echo $! > /run/${name}.pid; wait $!`);
  await until(isThere, () => `${name}: ${command} does not get there`);
  await guest.sh(root, `kill -9 $(cat /run/${name}.pid)`);
  await release();
  await ended;
}

/** Kills the migration of v3, or a restore of what was before v2. */
export async function killOnDatabase(guest: Guest, app: GuestApp, state: PairState): Promise<void> {
  const file = databaseOf(app);
  await guest.sh(app.root, `touch ${file}.hold`);
  const id = guest.state(app).instances.default?.current?.deploy_id;
  const restore = `runner rollback ${app.name} --to v1 --database ${id}`;
  const command = state === 'migrating' ? `runner deploy ${app.name}` : restore;
  await killWhen(guest, app, command, {
    isThere: () => guest.exists(guest.outside(`${file}.held`)),
    release: () => guest.sh(app.root, `rm ${file}.hold`),
  });
}

/** What is not in the database as it must be: a migration once, and after a killed restore what was before. */
export async function databaseDifferences(
  guest: Guest,
  app: GuestApp,
  state: PairState,
): Promise<string[]> {
  if (!isMigrated(state)) return [];
  const sql =
    "select group_concat(name) from pragma_table_info('orders') union all select count(*) from schema_migrations where version = '001'";
  const { stdout, stderr } = await guest.sh(app.root, `sqlite3 ${databaseOf(app)} "${sql}"`);
  const wanted = state === 'migrating' ? 'id,note\n1\n' : 'id\n1\n';
  return stdout === wanted ? [] : [`the database: ${stdout}${stderr}, wanted ${wanted}`];
}
