/** Real database servers of a test's own, in a temporary folder and on a free port; each ends with the test. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './app.ts';
import { atExit } from './cleanup.ts';
import { temporaryFolder } from './temp.ts';
import { until } from './until.ts';

/** A server, or a folder of files. */
export interface TestDatabases {
  readonly kind: 'postgres' | 'mysql' | 'sqlite';
  /** Of a database of this name, with a user that may do everything. */
  url(name: string): string;
  /** Runs a script, and goes on after errors; answers, and errors among them. */
  sql(name: string, script: string): { status: number; stdout: string; stderr: string };
  create(name: string): void;
  remove(name: string): void;
  close(): void;
}

const PASSWORD = 'pässword-7f3a/@:x';
const secret = encodeURIComponent(PASSWORD);
const userId = (name: string) => Number(spawnSync('id', ['-u', name], { encoding: 'utf8' }).stdout);

function run(file: string, args: readonly string[], input: string, env: NodeJS.ProcessEnv = {}) {
  const ended = spawnSync(file, args, {
    input,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', ...env },
    maxBuffer: 1 << 26,
  });
  return { status: ended.status ?? -1, stdout: ended.stdout, stderr: ended.stderr };
}

function ending(child: ChildProcess, signal: NodeJS.Signals): () => void {
  const end = () => void child.kill(signal);
  const forget = atExit(end);
  return () => {
    forget();
    end();
  };
}

/** The folder of PostgreSQL's programs; undefined where it is not installed. */
function postgresPrograms(): string | undefined {
  const all = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').sort() : [];
  return all.map((version) => `/usr/lib/postgresql/${version}/bin`).at(-1);
}

/** undefined where it is not installed. */
export async function startPostgres(): Promise<TestDatabases | undefined> {
  const programs = postgresPrograms();
  if (!programs) return undefined;
  const [folder, port] = [temporaryFolder('postgres'), await freePort()];
  const isRoot = process.getuid?.() === 0;
  const asUser = isRoot
    ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups']
    : [];
  if (isRoot) chownSync(folder, userId('postgres'), userId('postgres'));
  const started = (words: readonly string[]) => [...asUser, ...words] as [string, ...string[]];
  const data = join(folder, 'data');
  const [file, ...args] = started([
    `${programs}/initdb`,
    '-D',
    data,
    '-U',
    'root',
    '--auth-local=trust',
    '--auth-host=scram-sha-256',
    '-N',
    '-E',
    'UTF8',
  ]);
  spawnSync(file, args, { stdio: 'ignore', cwd: folder });
  const settings = [
    'fsync=off',
    'full_page_writes=off',
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${folder}`,
    'autovacuum=off',
  ];
  const [program, ...words] = started([
    `${programs}/postgres`,
    '-D',
    data,
    ...settings.flatMap((each) => ['-c', each]),
  ]);
  const server = spawn(program, words, { stdio: 'ignore', cwd: folder });
  const env = { PGHOST: folder, PGPORT: String(port), PGUSER: 'root' };
  const sql = (name: string, script: string) =>
    run('psql', ['-X', '-q', '-A', '-t', '-f', '-', name], script, env);
  await until(() => sql('postgres', 'SELECT 1').status === 0, 'PostgreSQL did not start');
  sql(
    'postgres',
    `CREATE ROLE app LOGIN CREATEDB PASSWORD '${PASSWORD}'; CREATE ROLE poor LOGIN PASSWORD '${PASSWORD}';`,
  );
  return {
    kind: 'postgres',
    url: (name) => `postgresql://app:${secret}@127.0.0.1:${port}/${name}?schema=public`,
    sql,
    create: (name) => void sql('postgres', `CREATE DATABASE ${name} OWNER app`),
    remove: (name) => void sql('postgres', `DROP DATABASE ${name}`),
    close: ending(server, 'SIGQUIT'),
  };
}

/** Of MariaDB or, where only that is installed, MySQL; undefined where neither is. */
export async function startMariadb(): Promise<TestDatabases | undefined> {
  const program = ['/usr/sbin/mariadbd', '/usr/sbin/mysqld'].find((each) => existsSync(each));
  if (!program) return undefined;
  const isMysql = program.endsWith('mysqld');
  const [folder, port] = [temporaryFolder('mariadb'), await freePort()];
  const data = join(folder, 'data');
  const common = [
    '--no-defaults',
    `--datadir=${data}`,
    ...(process.getuid?.() === 0 ? ['--user=root'] : []),
  ];
  const install = ['--auth-root-authentication-method=normal', '--skip-test-db'];
  if (isMysql) spawnSync(program, [...common, '--initialize-insecure'], { stdio: 'ignore' });
  else spawnSync('mariadb-install-db', [...common, ...install], { stdio: 'ignore' });
  const socket = join(folder, 'socket');
  const place = [
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${socket}`,
    `--pid-file=${folder}/pid`,
  ];
  const fast = [
    '--innodb-flush-log-at-trx-commit=0',
    '--skip-name-resolve',
    '--innodb-buffer-pool-size=64M',
    ...(isMysql ? ['--mysqlx=OFF'] : []),
  ];
  const server = spawn(program, [...common, ...place, ...fast], { stdio: 'ignore' });
  const sql = (name: string, script: string) =>
    run(
      isMysql ? 'mysql' : 'mariadb',
      [
        '--no-defaults',
        `--socket=${socket}`,
        '--user=root',
        '--batch',
        '--raw',
        '--skip-column-names',
        '--force',
        '--default-character-set=utf8mb4',
        name,
      ],
      script,
    );
  await until(() => sql('mysql', 'SELECT 1').status === 0, 'MariaDB did not start');
  sql(
    'mysql',
    `CREATE USER app@'%' IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON *.* TO app@'%';
    CREATE USER poor@'%' IDENTIFIED BY '${PASSWORD}'; GRANT SELECT ON *.* TO poor@'%'; DROP USER IF EXISTS ''@'localhost'; FLUSH PRIVILEGES;`,
  );
  return {
    kind: 'mysql',
    url: (name) => `mysql+pymysql://app:${secret}@127.0.0.1:${port}/${name}`,
    sql,
    create: (name) => void sql('mysql', `CREATE DATABASE ${name} CHARACTER SET utf8mb4`),
    remove: (name) => void sql('mysql', `DROP DATABASE ${name}`),
    close: ending(server, 'SIGTERM'),
  };
}

/** Files in a folder; undefined where sqlite3 is not installed. */
export function sqliteFolder(): TestDatabases | undefined {
  if (spawnSync('sqlite3', ['--version']).status !== 0) return undefined;
  const folder = temporaryFolder('sqlite');
  const path = (name: string) => join(folder, name);
  const sql = (name: string, script: string) =>
    run(
      'sqlite3',
      ['-batch', '-init', '/dev/null', path(name)],
      `PRAGMA foreign_keys = ON;\n${script}`,
    );
  return {
    kind: 'sqlite',
    url: (name) => `file:${path(name)}`,
    sql,
    create: (name) => void sql(name, 'VACUUM'),
    remove: (name) => void spawnSync('rm', ['-f', path(name)]),
    close() {},
  };
}
