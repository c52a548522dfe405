/** The URL of a database, as the tools of web frameworks write it. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { hashOf } from '@runner/common/audit/chain';
import { Failure } from '@runner/common/foundation/failure';
import type { Confinement } from '../sandbox/sandbox.ts';

/** A database that is known by its URL. */
export interface DatabaseAddress {
  readonly kind: 'postgres' | 'mysql' | 'sqlite';
  /** With user and password: it is for the app alone. */
  readonly url: string;
  /** Of the database on its server; of SQLite the absolute path of its file. */
  readonly name: string;
  /** 16 hex digits of a hash of kind, host, port and name: what is kept of it has this. */
  readonly fingerprint: string;
  /** The same by each name of its host. */
  readonly aliases: readonly string[];
  /** How its tools run: as the commands of its app, which decides what is in it. Absent where none runs. */
  readonly confine?: Confine | undefined;
}

/** `copy`: a folder below the releases in which a tool may write, too. */
type Confine = (copy?: string) => Confinement | undefined;

export type DatabaseServer = ReturnType<typeof serverOf>;

const KINDS: Readonly<Record<string, DatabaseAddress['kind']>> = {
  postgres: 'postgres',
  postgresql: 'postgres',
  mysql: 'mysql',
  mysql2: 'mysql',
  mariadb: 'mysql',
  sqlite: 'sqlite',
  sqlite3: 'sqlite',
  file: 'sqlite',
};
const PORTS = { postgres: '5432', mysql: '3306', sqlite: '' };
/** Scheme, `user:password`, host and port, name, settings. A password may contain an `@`. */
const SERVER = /^([^:]+):\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^/?#]*))?\/?(?:\?([^#]*))?$/;
/** Names of this machine: apps that name one server differently share its databases. */
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
const SOCKETS = ['socket', 'unix_socket', 'socketPath', 'host'];

const invalid = (why: string) => new Failure('config_invalid', `the URL of the database ${why}`);

function plain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('has a % that is not followed by two hex digits');
  }
}

/** Takes the URL of a PostgreSQL or MySQL server apart. Throws `config_invalid`, without the URL. */
export function serverOf(url: string, kind: 'postgres' | 'mysql') {
  const [, , login = '', place = '', path = '', query = ''] = SERVER.exec(url) ?? [];
  const settings = new URLSearchParams(query);
  if (place.includes(',')) throw invalid('names several servers');
  const [, address = '', port = ''] = /^(\[[\da-f:.]+\]|[^:]*)(?::(\d{0,5}))?$/i.exec(place) ?? [];
  if (!SERVER.test(url) || (place !== '' && address === '' && port === ''))
    throw invalid('is not of the form kind://user:password@host:port/name');
  const [user = '', ...password] = login.split(':');
  const socket = SOCKETS.map((key) => settings.get(key)).find((value) => value);
  const host = socket ?? plain(address).replace(/^\[|\]$/g, '');
  const name = plain(path) || (settings.get('dbname') ?? '');
  if (name === '') throw invalid('has no name of a database');
  for (const text of [name, host, plain(login)])
    if (/[\0\r\n]/.test(text)) throw invalid('contains a line break or NUL');
  return {
    user: plain(user) || (settings.get('user') ?? ''),
    password: plain(password.join(':')) || (settings.get('password') ?? ''),
    /** An absolute path is the socket, of PostgreSQL the folder of the socket. */
    host: host || 'localhost',
    port: port || settings.get('port') || PORTS[kind],
    name,
    settings,
  };
}

/**
 * The file of SQLite. Three slashes are an absolute path, but of SQLAlchemy and Django a relative one:
 * the file that exists is meant.
 */
function fileOf(url: string, cwd: string): string {
  const path = plain(url.replace(/^[^:]+:/, '').replace(/[?#].*$/, ''));
  if (/^\/{0,3}$|:memory:/.test(path)) throw invalid('names no file');
  if (path.includes('\0')) throw invalid('contains a line break or NUL');
  const absolute = resolve(cwd, path.replace(/^\/\//, ''));
  const relative = resolve(cwd, path.replace(/^\/\/\//, ''));
  return !existsSync(absolute) && existsSync(relative) ? relative : absolute;
}

/** Without links: a file in `shared/` is the same in each release. */
function plainPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(path);
  return existsSync(folder) ? join(realpathSync(folder), basename(path)) : path;
}

/** Reads a URL; a relative file is one in `cwd`. Throws `config_invalid`, without the URL. */
export function databaseAddress(url: string, cwd: string, confine?: Confine): DatabaseAddress {
  const scheme = /^([a-z\d]+)(?:\+[a-z\d_]+)?:/i.exec(url)?.[1]?.toLowerCase() ?? '';
  const kind = Object.hasOwn(KINDS, scheme) ? KINDS[scheme] : undefined;
  if (!kind) throw invalid('does not begin with postgres:, mysql:, mariadb:, sqlite: or file:');
  const server = kind === 'sqlite' ? undefined : serverOf(url, kind);
  const name = server?.name ?? fileOf(url, cwd);
  const { host = '', port = '' } = server ?? {};
  const path = server ? name : plainPath(name);
  const printOf = (at: string) => hashOf([kind, at, port, path].join('\0')).slice(0, 16);
  const aliases = (LOOPBACK.includes(host) ? LOOPBACK : [host]).map(printOf);
  return { kind, url, name, fingerprint: printOf(host), aliases, confine };
}

/** The same server with another database, or SQLite with another file, a copy, in the form of the URL. */
export function otherDatabase(address: DatabaseAddress, name: string): DatabaseAddress {
  const { confine } = address;
  const [, scheme = '', rest = ''] = /^([^:]+:)(.*)$/s.exec(address.url) ?? [];
  const query = /\?.*$/s.exec(rest)?.[0] ?? '';
  if (address.kind === 'sqlite') {
    const isRelative = /^\/\/\/[^/]/.test(rest) && !rest.startsWith(`//${address.name}`);
    const slashes = /^\/\/(?:\/\/)?/.exec(rest)?.[0] ?? '';
    const lead = isRelative ? '///' : slashes === '////' ? '///' : slashes;
    const inFolder = (copy = dirname(name)) => confine?.(copy);
    return databaseAddress(`${scheme}${lead}${name}${query}`, '/', inFolder);
  }
  const place = /^\/\/[^/?]*/.exec(rest)?.[0] ?? '';
  const settings = query.replace(/([?&])dbname=[^&]*&?/, '$1');
  return databaseAddress(`${scheme}${place}/${encodeURIComponent(name)}${settings}`, '/', confine);
}
