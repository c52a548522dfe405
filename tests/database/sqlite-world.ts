/** A server with the app `shop`, which migrates a SQLite database. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { killApp } from '@runner/testing/app';
import { type Ended, run } from '@runner/testing/run';
import { suite } from 'uvu';
import { deployFile, makeWorld, type World } from '../deploys/world.ts';

/** A suite of tests that each have a server and its database; skipped where SQLite's own tool is missing. */
export function sqliteSuite(name: string) {
  const own = suite<{ world: World; database: string }>(name);
  own.before.each(async (context) => {
    const world = await makeWorld();
    const database = join(world.root, '..', 'shop.db');
    sql(database, 'create table orders(id integer primary key, note text, total int not null)');
    sql(database, "insert into orders values (1, 'first', 10)");
    Object.assign(context, { world, database });
  });
  own.after.each(async ({ world }) => {
    killApp(world.root, 'shop');
    await world.close();
  });
  const test = spawnSync('sqlite3', ['-version']).status === 0 ? own : own.skip;
  return { test, run: () => own.run() };
}

export const sql = (database: string, text: string) =>
  execFileSync('sqlite3', [database, text], { encoding: 'utf8' }).trim();

/** What a small tool for migrations does: each file once, noted in a table of its own. */
export const TOOL = `set -e
file=\${DATABASE_URL#sqlite:}
sqlite3 "$file" 'create table if not exists schema_migrations(version text)'
for each in migrations/*.sql; do
  name=$(basename "$each" .sql)
  test -z "$(sqlite3 "$file" "select 1 from schema_migrations where version='$name'")" || continue
  sqlite3 -bail "$file" < "$each"
  sqlite3 "$file" "insert into schema_migrations values ('$name')"
done
`;

interface Shipped {
  readonly world: World;
  readonly database: string;
  readonly version: string;
  /** All migrations of the version, by their names. */
  readonly migrations?: Readonly<Record<string, string>>;
  /** More keys of the section. */
  readonly more?: string;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** `more` says how it is started. */
  readonly starts?: boolean;
}

export async function ship({
  world,
  database,
  version,
  migrations = {},
  more = '',
  args,
  env,
  starts = true,
}: Shipped) {
  const files = Object.entries(migrations).map(([name, text]) => [`migrations/${name}.sql`, text]);
  const deploy = deployFile(world.port, `migrate: { run: sh migrate.sh${more} }\n`).replace(
    'env: { ',
    `env: { DATABASE_URL: "sqlite:${database}", `,
  );
  await world.push(version, {
    deploy: starts ? deploy : deploy.replace(/^start.*\nhealth.*\n/m, ''),
    files: {
      'migrate.sh': TOOL,
      'migrations/000.sql': 'select 1;\n',
      ...Object.fromEntries(files),
    },
  });
  return world.deploy(args, env);
}

export const rollback = ({ root }: World, ...args: string[]): Promise<Ended> =>
  run('runner-rollback', ['shop', ...args], { root });
