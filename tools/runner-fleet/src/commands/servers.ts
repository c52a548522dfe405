import { command } from '@runner/common/cli/command';
import { Failure, invalidValue, usage } from '@runner/common/foundation/failure';
import { readAll } from '@runner/common/foundation/io';
import { SERVER_NAME, serverName } from '@runner/fleet/files/names';
import {
  chooseServers,
  type FleetServer,
  readFleet,
  readServers,
  removeServer,
  serverOf,
  writeServer,
} from '@runner/fleet/files/operator';

/**
 * A reload is not enough: nats-server (to 2.15.1) connects a new account to the others only at its next one, and one
 * before 2.9.21 then no longer answers which logins there are: an agent that starts refuses it.
 */
const RESTART =
  'Next step: install the output of runner fleet broker config, restart the broker, run runner fleet broker check\n';

export const add = command({
  name: 'add',
  about: 'Add a server, or change its groups or keys',
  details: 'Reads the output of runner agent keys, run on that server, from standard input.',
  positionals: { server: { required: true, about: 'Name of the server' } },
  options: {
    group: {
      placeholder: 'G,…',
      about: 'Groups, separated by commas [default: unchanged]',
    },
  },
  async run({ io, paths, args, options }) {
    await readFleet(paths.root);
    const name = serverName(args.server);
    const all = readServers(paths.root);
    const groups = options.group?.split(',');
    const wrong = groups?.find((each) => !SERVER_NAME.test(each));
    if (wrong !== undefined)
      throw invalidValue(
        wrong,
        '--group <G,…>',
        'a group has lower-case letters, digits or dashes',
      );
    requireDistinct(name, groups ?? [], all);
    const server = serverOf(readAll(io.stdin, 65_536, 'standard input'));
    if (server?.server !== name)
      throw new Failure(
        'config_invalid',
        `standard input is not the output of runner agent keys on ${name}`,
      );
    const same = all.find((each) => each.server !== name && each.nkey === server.nkey);
    if (same)
      throw new Failure(
        'broker_unsafe',
        `${same.server} has the same key: every server needs its own`,
      );
    const isKnown = all.some(({ nkey, key }) => nkey === server.nkey && key === server.key);
    const result = isKnown ? 'changed' : 'added';
    return { value: { result, ...writeServer(paths.root, server, groups) } };
  },
  human: ({ result, server }: FleetServer & { result: string }) =>
    result === 'changed' ? `Changed ${server}\n` : `Added ${server}\n${RESTART}`,
});

/** Throws `name_invalid` if a group had the name of a server: `--on` takes both. */
function requireDistinct(name: string, groups: readonly string[], all: readonly FleetServer[]) {
  const names = [name, ...all.map(({ server }) => server)];
  const both =
    groups.find((each) => names.includes(each)) ??
    all.flatMap((each) => each.groups).find((each) => each === name);
  if (both === undefined) return;
  throw new Failure(
    'name_invalid',
    `'${both}' cannot be the name of a server and of a group: choose another`,
  );
}

export const remove = command({
  name: 'remove',
  about: 'Remove a server; the broker refuses it once it has the new configuration',
  positionals: { server: { required: true, about: 'Name of the server' } },
  async run({ paths, args }) {
    const all = readServers(paths.root);
    const server = all.find((each) => each.server === args.server);
    if (!server) chooseServers(paths.root, args.server);
    if (!server) throw usage(`'${args.server}' is a group: remove its servers one by one`);
    removeServer(paths.root, server.server);
    return { value: { result: 'removed', server: server.server } };
  },
  human: ({ server }: FleetServer) => `Removed ${server}\n${RESTART}`,
});

export const list = command({
  name: 'list',
  about: 'List the servers of the fleet',
  async run({ paths }) {
    await readFleet(paths.root);
    const servers = readServers(paths.root);
    return { value: { count: servers.length, servers } };
  },
  human: ({ servers }: { servers: FleetServer[] }) =>
    servers
      .map(({ server, groups }) => `${server.padEnd(16)}  ${groups.join(' ')}`.trimEnd())
      .map((line) => `${line}\n`)
      .join('') || 'There are no servers yet.\n',
});
