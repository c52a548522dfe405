import { type Context, command } from '@runner/common/cli/command';
import { Failure, invalidValue } from '@runner/common/foundation/failure';
import { type BrokerSetup, brokerConfiguration } from '@runner/fleet/broker/configuration';
import { comparedWith, loginKeyOf, monitorSeed, openBroker } from '@runner/fleet/broker/nats';
import { operatorFiles, readFleet, readServers } from '@runner/fleet/files/operator';
import { readLogin, withFleet } from '../rollout/connect.ts';

export const broker = command({
  name: 'broker',
  about: 'Print the configuration of the broker, or check that it is loaded',
  details:
    'config prints the configuration of nats-server: one account per server, isolated from the others.\n' +
    'check compares the accounts of the running broker with this configuration, and creates the streams and\n' +
    'the mailbox of each server, and stores a message to see whether its disk has space.',
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
    if (args.what === 'check') return { value: await checkBroker(context) };
    if (!/^\/[^"\n]*$/.test(options.store))
      throw invalidValue(options.store, '--store <DIR>', 'it must be an absolute path');
    const text = brokerConfiguration(await setupOf(paths.root, options.store));
    return { value: format === 'human' ? text : { configuration: text } };
  },
  human: (value: string | BrokerCheck) =>
    typeof value === 'string'
      ? value
      : `The broker (${value.version}) answers; ${value.servers} servers have a mailbox.\n${value.warnings.map((line) => `Warning: ${line}\n`).join('')}`,
});

/** What the configuration is made of. Throws `fleet_not_configured` and others. */
async function setupOf(root: string, store: string): Promise<BrokerSetup> {
  const { url } = (await readFleet(root)).broker;
  const [seed, { login }] = [readLogin(root), operatorFiles(root)];
  const [operator, monitor] = [loginKeyOf(seed, login), loginKeyOf(monitorSeed(seed), login)];
  return { url, operator, monitor, servers: readServers(root), store };
}

/** At most this many differences are named. */
const NAMED = 3;

/**
 * The servers that could not be compared. Throws `broker_unsafe` unless the broker has the accounts that
 * `broker config` prints.
 */
async function compareAccounts({ paths, options }: BrokerContext): Promise<readonly string[]> {
  const unsafe = (what: string, problems: readonly string[]) =>
    new Failure('broker_unsafe', `${what}; load the output of runner fleet broker config`, {
      problems,
    });
  const { broker: address } = await readFleet(paths.root);
  const seed = monitorSeed(readLogin(paths.root));
  const monitor = await openBroker({ ...address, seed, name: 'runner-fleet-check' }).catch(
    (error: unknown) => {
      if (!(error instanceof Failure && error.code === 'broker_refused')) throw error;
      throw unsafe('the broker runs with another configuration', []);
    },
  );
  try {
    const setup = await setupOf(paths.root, options.store);
    const { problems, unseen } = await comparedWith(monitor, setup);
    if (problems.length === 0) return unseen;
    const more = problems.length > NAMED ? ` and ${problems.length - NAMED} more differences` : '';
    throw unsafe(
      `the broker runs with another configuration: ${problems.slice(0, NAMED).join('; ')}${more}`,
      problems,
    );
  } finally {
    await monitor.close();
  }
}

type BrokerContext = Pick<Context, 'paths'> & { readonly options: { readonly store: string } };

/** Older versions have published vulnerabilities. */
const SAFE = [2, 10, 27];

type BrokerCheck = Awaited<ReturnType<typeof checkBroker>>;

async function checkBroker(context: BrokerContext) {
  const servers = readServers(context.paths.root);
  return withFleet(context, async (connection) => {
    const unseen = await compareAccounts(context);
    await connection.createStreams().catch((error: Error) => {
      throw new Failure(
        'broker_unsafe',
        `the broker cannot create streams: ${error.message}; load the output of runner fleet broker config`,
      );
    });
    for (const { server } of servers) await connection.createMailbox(server);
    await connection.tryToStore();
    const { version } = connection;
    const parts = version.split('.').map(Number);
    const index = SAFE.findIndex((part, place) => parts[place] !== part);
    const isOld = index >= 0 && (parts[index] ?? 0) < (SAFE[index] ?? 0);
    const warnings = [
      ...(isOld ? [`nats-server ${version} is older than ${SAFE.join('.')}: upgrade it`] : []),
      ...unseen.map((name) => `${name} is not connected: its account could not be compared`),
    ];
    return { version, servers: servers.length, warnings };
  });
}
