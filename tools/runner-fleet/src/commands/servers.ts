import { command } from '@runner/common/cli/command';
import { Failure, usage } from '@runner/common/foundation/failure';
import { readAll } from '@runner/common/foundation/io';
import { isServerName, serverName } from '@runner/fleet/files/names';
import {
  chooseServers,
  type FleetServer,
  readFleet,
  readServers,
  removeServer,
  serverOf,
  writeServer,
} from '@runner/fleet/files/operator';

const RELOAD =
  'Next step: install the output of runner fleet broker config, and reload the broker\n';

export const add = command({
  name: 'add',
  about: 'Add a server, or change its groups or keys',
  details: 'Reads the output of runner agent keys, run on that server, from standard input.',
  positionals: { server: { required: true, about: 'Name of the server' } },
  options: {
    group: { kind: 'value', placeholder: 'G,…', about: 'Groups, separated by commas' },
  },
  async run({ io, paths, args, options }) {
    await readFleet(paths.root);
    const name = serverName(args.server);
    const groups = options.group?.split(',') ?? [];
    if (!groups.every(isServerName))
      throw usage(`invalid value '${options.group}' for '--group <G,…>': names of groups`);
    const server = serverOf(readAll(io.stdin, 65_536, 'standard input'), groups);
    if (server?.server !== name)
      throw new Failure(
        'config_invalid',
        `standard input is not the output of runner agent keys on ${name}`,
      );
    const same = readServers(paths.root).find(
      (each) => each.server !== name && each.nkey === server.nkey,
    );
    if (same)
      throw new Failure(
        'broker_unsafe',
        `${same.server} has the same key: every server needs its own`,
      );
    writeServer(paths.root, server);
    return { value: { result: 'added', ...server } };
  },
  human: ({ server }: FleetServer) => `Added ${server}\n${RELOAD}`,
});

export const remove = command({
  name: 'remove',
  about: 'Remove a server; the broker refuses it once its configuration is reloaded',
  positionals: { server: { required: true, about: 'Name of the server' } },
  async run({ paths, args }) {
    const all = readServers(paths.root);
    const server = all.find((each) => each.server === args.server);
    if (!server) chooseServers(paths.root, args.server);
    if (!server) throw usage(`'${args.server}' is a group: remove its servers one by one`);
    removeServer(paths.root, server.server);
    return { value: { result: 'removed', server: server.server } };
  },
  human: ({ server }: FleetServer) => `Removed ${server}\n${RELOAD}`,
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
