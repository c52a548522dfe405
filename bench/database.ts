/**
 * `npm run bench -- database`: what a migration with a rehearsal, a backup and a restore costs on a PostgreSQL
 * database, and what its requests notice meanwhile. `--megabytes N` (default 1000). Without PostgreSQL and its
 * pgbench it prints that and ends.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { killApp } from '@runner/testing/app';
import { startPostgres, type TestDatabases } from '@runner/testing/databases';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { TOOL } from '../tests/database/tool.ts';
import { deployFile, makeWorld, type World } from '../tests/deploys/world.ts';
import { printRows, quantile } from './harness/measure.ts';
import { optionGiven, printSetting } from './harness/setting.ts';

/** Megabytes of a scale of pgbench. */
const SCALE_SIZE = 15;
/** Requests a second, and seconds of a measurement. */
const [RATE, TIME] = [200, 20];
const DEPLOYS = 5;

const megabytes = Number(optionGiven('megabytes') ?? 1_000);

function programs(): string {
  const all = readdirSync('/usr/lib/postgresql').sort();
  return `/usr/lib/postgresql/${all.at(-1)}/bin`;
}

/** Latencies of reads and writes by primary key, in ms, while `body` runs. */
async function latencies(url: URL, body: () => Promise<void>): Promise<number[]> {
  const folder = temporaryFolder('pgbench');
  const { spawn } = await import('node:child_process');
  const args = ['-c', '2', '-T', String(TIME), '-R', String(RATE), '-l', '-n', 'shop'];
  const child = spawn(join(programs(), 'pgbench'), args, {
    cwd: folder,
    env: envOf(url),
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  await body();
  await ended;
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .trim()
      .split('\n')
      .map((line) => Number(line.split(' ')[2]) / 1_000),
  );
}

const envOf = ({ hostname, port, username, password }: URL) => ({
  PATH: process.env.PATH,
  PGHOST: hostname,
  PGPORT: port,
  PGUSER: username,
  PGPASSWORD: decodeURIComponent(password),
});

async function ship(world: World, migrations: number, more: string): Promise<string> {
  const files = Array.from({ length: migrations }, (_, at) => [
    `migrations/${100 + at}.sql`,
    `alter table pgbench_accounts add column more${at} int;`,
  ]);
  await world.push(`v${migrations}`, {
    deploy: deployFile(world.port, `migrate: { run: node migrate.js${more} }\n`),
    files: { 'migrate.js': TOOL, 'migrations/000.sql': 'select 1;', ...Object.fromEntries(files) },
  });
  const done = await world.deploy();
  if (done.status !== 0) throw new Error(done.stderr);
  return done.stderr;
}

const secondsIn = (text: string, step: string): number =>
  Number(new RegExp(`ok +${step}.*\\(([\\d.]+) s\\)`).exec(text)?.[1] ?? Number.NaN);

async function measure(world: World, databases: TestDatabases): Promise<void> {
  const url = new URL(databases.url('shop'));
  databases.create('shop');
  const scale = String(Math.max(1, Math.round(megabytes / SCALE_SIZE)));
  execFileSync(join(programs(), 'pgbench'), ['-i', '-q', '-s', scale, 'shop'], {
    env: envOf(url),
    stdio: 'ignore',
  });
  const size = Number(databases.sql('shop', "select pg_database_size('shop')").stdout) / 1_048_576;
  const { root } = world;
  await run('runner-env', ['set', 'shop', 'DATABASE_URL', '--file', '-'], {
    root,
    stdin: url.href,
  });
  await ship(world, 0, '');
  const idle = await latencies(url, async () => {});
  const deploys = async (from: number, more: string): Promise<number[]> => {
    const found: number[] = [];
    for (let at = from + 1; at <= from + DEPLOYS; at += 1)
      found.push(secondsIn(await ship(world, at, more), 'rehearse on a copy of the schema'));
    return found;
  };
  const plain = await latencies(url, async () => void (await deploys(0, ', rehearse: false')));
  let rehearsals: number[] = [];
  const busy = await latencies(url, async () => {
    rehearsals = await deploys(DEPLOYS, '');
  });
  const full = await ship(world, 2 * DEPLOYS + 1, ', rehearse: full');
  const backed = await ship(world, 2 * DEPLOYS + 2, ', backup: auto');
  const [backup] = world.state().database_backups as { deploy_id: string; bytes: number }[];
  const began = performance.now();
  const back = await run('runner-rollback', ['shop', '--database', backup?.deploy_id ?? ''], {
    root,
  });
  if (back.status !== 0) throw new Error(back.stderr);
  const ms = (values: readonly number[], part: number) => `${quantile(values, part).toFixed(2)} ms`;
  printRows(
    `PostgreSQL, ${Math.round(size)} MB; ${RATE} transactions a second`,
    ['what', 'median', '99 %'],
    [
      ['a transaction', ms(idle, 0.5), ms(idle, 0.99)],
      [`during ${DEPLOYS} deploys without a rehearsal`, ms(plain, 0.5), ms(plain, 0.99)],
      [`during ${DEPLOYS} deploys with a rehearsal`, ms(busy, 0.5), ms(busy, 0.99)],
    ],
  );
  const seconds = (value: number) => `${value.toFixed(1)} s`;
  printRows(
    'A migration of it',
    ['what', 'time', 'announced'],
    [
      ['rehearsal on a copy of the schema', seconds(quantile(rehearsals, 0.5)), ''],
      ['rehearsal on a full copy', seconds(secondsIn(full, 'rehearse on a full')), announced(full)],
      [
        `backup, ${Math.round((backup?.bytes ?? 0) / 1_048_576)} MB`,
        seconds(secondsIn(backed, 'back up the database')),
        announced(backed),
      ],
      [
        'backup, restore and start',
        seconds((performance.now() - began) / 1_000),
        announced(back.stderr),
      ],
    ],
  );
}

const announced = (text: string): string => /iB, about ([^(]+) \(/.exec(text)?.[1] ?? '';

async function main(): Promise<void> {
  printSetting('A database', 1);
  const databases = await startPostgres();
  if (!databases) {
    process.stdout.write('PostgreSQL is not installed: nothing is measured\n');
    return;
  }
  const world = await makeWorld();
  try {
    await measure(world, databases);
  } finally {
    killApp(world.root, 'shop');
    await world.close();
    databases.close();
  }
}

void main();
