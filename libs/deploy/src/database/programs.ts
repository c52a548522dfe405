/** The programs of a kind of database, and the arguments and environment that name one. */
import { type DatabaseAddress, type DatabaseServer, serverOf } from './address.ts';

/** The programs of a kind: the first that is installed is used. */
export type DatabaseTool = 'client' | 'dump' | 'archive';
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'postgres client': ['psql'],
  'postgres dump': ['pg_dump'],
  'postgres archive': ['pg_restore'],
  'mysql client': ['mariadb', 'mysql'],
  'mysql dump': ['mariadb-dump', 'mysqldump'],
  'sqlite client': ['sqlite3'],
};

/** The programs that do as a tool. */
export const programsOf = (kind: DatabaseAddress['kind'], tool: DatabaseTool) =>
  PROGRAMS[`${kind} ${tool}`] ?? [];

/** Settings of a PostgreSQL URL that libpq takes from its environment. */
const LIBPQ = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'channel_binding'];

/** What names the server to a tool, before its other arguments, and the secret in it. Throws `config_invalid`. */
export function accessOf({ kind, url }: DatabaseAddress) {
  if (kind === 'sqlite') return { args: [], env: {}, secret: '' };
  const server = serverOf(url, kind);
  const { password: secret } = server;
  return kind === 'mysql'
    ? { args: mysqlArgs(server), env: { MYSQL_PWD: secret }, secret }
    : { args: [], env: libpqEnvironment(server), secret };
}

function libpqEnvironment(server: DatabaseServer): NodeJS.ProcessEnv {
  const { user, password, host, port, name, settings } = server;
  const of = { PGHOST: host, PGPORT: port, PGUSER: user, PGPASSWORD: password, PGDATABASE: name };
  const all = Object.entries(of).filter(([, value]) => value !== '');
  const more = LIBPQ.filter((key) => settings.has(key)).map((key) => [
    `PG${key.replace('_', '').toUpperCase()}`,
    settings.get(key),
  ]);
  const own = { PGCONNECT_TIMEOUT: '10', PGPASSFILE: '/dev/null' };
  return { ...own, ...Object.fromEntries([...all, ...more]) };
}

function mysqlArgs({ user, host, port, settings }: DatabaseServer): string[] {
  const place = host.startsWith('/') ? [`--socket=${host}`] : [`--host=${host}`, `--port=${port}`];
  const authority = ['ssl-ca', 'ssl_ca', 'sslca'].map((key) => settings.get(key)).find(Boolean);
  const more = [user && `--user=${user}`, authority && `--ssl-ca=${authority}`];
  // The host localhost would mean the socket, whatever the port is.
  const tcp = host === 'localhost' && port !== '3306' ? ['--protocol=tcp'] : [];
  return [
    '--no-defaults',
    '--loose-connect-timeout=10',
    ...place,
    ...tcp,
    ...more.filter((each): each is string => !!each),
  ];
}
