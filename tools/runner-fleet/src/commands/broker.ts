import { command } from '@runner/common/cli/command';
import { Failure, invalidValue } from '@runner/common/foundation/failure';
import { brokerConfiguration } from '@runner/fleet/broker/configuration';
import { operatorFiles, readFleet, readServers } from '@runner/fleet/files/operator';
import { readLogin, withFleet } from '../rollout/connect.ts';

interface Checked {
  readonly version: string;
  readonly servers: number;
  readonly warnings: readonly string[];
}

export const broker = command({
  name: 'broker',
  about: 'Print the configuration of the broker, or check that it is loaded',
  details:
    'config prints the configuration of nats-server: one account per server, isolated from the others.\n' +
    'check connects, and creates the streams and the mailbox of each server.',
  positionals: {
    what: { required: true, about: 'What to do', choices: ['config', 'check'] },
  },
  options: {
    store: {
      placeholder: 'DIR',
      default: '/var/lib/nats/jetstream',
      about: 'Where the broker keeps its streams',
    },
  },
  plain: true,
  async run(context) {
    const { paths, args, options, format } = context;
    const { broker: address } = await readFleet(paths.root);
    const servers = readServers(paths.root);
    if (args.what === 'check') return { value: await checkBroker(context) };
    if (!/^\/[^"\n]*$/.test(options.store))
      throw invalidValue(options.store, '--store <DIR>', 'it must be an absolute path');
    const { loginKeyOf } = await import('@runner/fleet/broker/nats');
    const operator = loginKeyOf(readLogin(paths.root), operatorFiles(paths.root).login);
    const text = brokerConfiguration({ url: address.url, operator, servers, store: options.store });
    return { value: format === 'human' ? text : { configuration: text } };
  },
  human: (value: string | Checked) =>
    typeof value === 'string'
      ? value
      : `The broker (${value.version}) answers; ${value.servers} servers have a mailbox.\n${value.warnings.map((line) => `Warning: ${line}\n`).join('')}`,
});

/** Older versions have published vulnerabilities. */
const SAFE = [2, 10, 27];

async function checkBroker(context: Parameters<typeof withFleet>[0]): Promise<Checked> {
  const servers = readServers(context.paths.root);
  return withFleet(context, async (connection) => {
    await connection.createStreams().catch((error: Error) => {
      throw new Failure(
        'broker_unsafe',
        `the broker cannot create streams: ${error.message}; load the output of runner fleet broker config`,
      );
    });
    for (const { server } of servers) await connection.createMailbox(server);
    const { version } = connection;
    const parts = version.split('.').map(Number);
    const index = SAFE.findIndex((part, place) => parts[place] !== part);
    const isOld = index >= 0 && (parts[index] ?? 0) < (SAFE[index] ?? 0);
    const warnings = isOld
      ? [`nats-server ${version} is older than ${SAFE.join('.')}: upgrade it`]
      : [];
    return { version, servers: servers.length, warnings };
  });
}
