/** The operator's files: `fleet/fleet.yml`, the key for the broker, and one file per server. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, namesIn, readIfThere, removeIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { orFail } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { jsonObject } from '@runner/common/text/json';
import { durationOf } from '@runner/common/text/time';
import { keys, matching, whole } from '@runner/common/yaml/keys';
import { section } from '@runner/common/yaml/schema';
import { BROKER_SCHEMA, brokerAddress, readSettings } from './broker-address.ts';
import { SERVER_NAME } from './names.ts';

export const operatorFiles = (root: string) => ({
  config: join(root, 'fleet/fleet.yml'),
  login: join(root, 'fleet/operator.nk'),
  servers: join(root, 'fleet/servers'),
  rollouts: join(root, 'fleet/rollouts'),
});

const SCHEMA = keys(
  {
    broker: BROKER_SCHEMA,
    by: { type: 'string' },
    key: { type: 'string' },
    defaults: keys({
      canary: whole(0, 1_000),
      max_parallel: whole(1, 1_000),
      max_failures: whole(0, 1_000),
      deadline: matching('^\\d+(s|m|h)$', 'a time such as 15m, 24h'),
    }),
  },
  undefined,
  ['broker'],
);

/** Reads `fleet.yml`. Throws `fleet_not_configured`, `config_invalid`, `insecure_address`. */
export async function readFleet(root: string) {
  const values = await readSettings(operatorFiles(root).config, root, SCHEMA, 'runner fleet init');
  const text = (of: Map<string, unknown> | undefined, key: string) =>
    of?.get(key) as string | undefined;
  const [broker, defaults] = [section(values, 'broker'), section(values, 'defaults')];
  const number = (key: string, otherwise: number) =>
    (defaults?.get(key) as number | undefined) ?? otherwise;
  return {
    broker: brokerAddress(text(broker, 'url') ?? '', text(broker, 'ca')),
    /** The operator's name in allowed_signers; undefined: the user's. */
    by: text(values, 'by'),
    /** Path of the key that signs orders; the `.pub` file if ssh-agent or a security key holds it. */
    key: text(values, 'key'),
    canary: number('canary', 1),
    maxParallel: number('max_parallel', 1),
    maxFailures: number('max_failures', 0),
    /** In ms. */
    deadline: durationOf(text(defaults, 'deadline') ?? '15m') ?? 900_000,
  };
}

/** A server in the operator's registry. */
export interface FleetServer {
  readonly server: string;
  readonly groups: readonly string[];
  /** Public key of its broker login. */
  readonly nkey: string;
  /** Public key that signs its results and events. */
  readonly key: string;
  /** Keys that it had before it was set up again, oldest first: they signed its older messages. */
  readonly former?: readonly string[];
}

const NKEY = /^U[A-Z2-7]{55}$/;
const KEY = /^ed25519:[A-Za-z0-9_-]{43}$/;

/** Parses a server's file or the output of `runner agent keys`, which has no groups; undefined if it is invalid. */
export function serverOf(text: string): FleetServer | undefined {
  const value = jsonObject(text);
  const [server = '', nkey = '', key = ''] = [value?.server, value?.nkey, value?.key].map(String);
  const list = (all: unknown) => (Array.isArray(all) ? all.map(String) : []);
  const [groups, former] = [list(value?.groups), list(value?.former)];
  const good =
    [server, ...groups].every((each) => SERVER_NAME.test(each)) &&
    NKEY.test(nkey) &&
    [key, ...former].every((each) => KEY.test(each));
  return good ? { server, groups, nkey, key, ...(former.length > 0 && { former }) } : undefined;
}

/** All servers, sorted by name. Throws `config_invalid`. */
export function readServers(root: string): FleetServer[] {
  const { servers } = operatorFiles(root);
  return namesIn(servers)
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .map((name) => {
      const path = join(servers, name);
      const found = readServer(path);
      if (found && `${found.server}.json` === name) return found;
      throw new Failure(
        'config_invalid',
        `${path} is damaged: delete it and run runner fleet add again`,
      );
    });
}

const readServer = (path: string) => serverOf(readIfThere(path, 65_536)?.toString('utf8') ?? '');

const fileOf = (root: string, server: string) =>
  join(operatorFiles(root).servers, `${server}.json`);
/** Of a removed server, so that its messages can be verified when it comes back with other keys. */
const removedFileOf = (root: string, server: string) => `${fileOf(root, server)}.removed`;

/** Adds or replaces a server; keeps the groups unless there are `groups`, and the keys it had before. */
export function writeServer(
  root: string,
  { server, nkey, key }: FleetServer,
  groups: readonly string[] | undefined,
): FleetServer {
  const now = readServer(fileOf(root, server));
  const before = now ?? readServer(removedFileOf(root, server));
  const keys = before ? [...(before.former ?? []), before.key] : [];
  const former = keys.filter((each) => each !== key);
  const written: FleetServer = {
    server,
    groups: groups ?? now?.groups ?? [],
    nkey,
    key,
    ...(former.length > 0 && { former }),
  };
  makeFolder(operatorFiles(root).servers);
  writeWhole(fileOf(root, server), `${JSON.stringify(written, null, 2)}\n`, 0o640);
  removeIfThere(removedFileOf(root, server));
  return written;
}

export function removeServer(root: string, server: string): void {
  const rename = () => renameSync(fileOf(root, server), removedFileOf(root, server));
  orFail(rename, `rename ${fileOf(root, server)}`);
}

/** The named servers and members of named groups; all if `on` is undefined. Throws `server_unknown`. */
export function chooseServers(root: string, on: string | undefined): FleetServer[] {
  const all = readServers(root);
  if (all.length === 0)
    throw new Failure(
      'fleet_not_configured',
      'there are no servers yet: add one with runner fleet add',
    );
  if (on === undefined) return all;
  const names = on.split(',');
  const isIn = ({ server, groups }: FleetServer, name: string) =>
    server === name || groups.includes(name);
  const unknown = names.find((name) => !all.some((each) => isIn(each, name)));
  if (unknown !== undefined)
    throw new Failure(
      'server_unknown',
      `there is no server or group '${unknown}': see runner fleet list`,
    );
  return all.filter((each) => names.some((name) => isIn(each, name)));
}
