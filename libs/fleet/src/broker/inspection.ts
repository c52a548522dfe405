/** Compares the accounts of a running broker with those that `brokerConfiguration` prints. */
import * as f from '../order/fields.ts';
import type { Broker } from './broker.ts';
import { type BrokerSetup, FLEET, SYSTEM } from './configuration.ts';
import { accountOf, exportsTo, importsOf, subjects } from './subjects.ts';

/** What a user of an account can reach in others and offers them, as sentences that can be compared. */
type AccountAccess = NonNullable<Awaited<ReturnType<typeof realAccess>>>;

const offers = (subject: string, to: readonly string[]) =>
  `offers ${subject} to ${to.length === 0 ? 'all' : [...to].sort().join(' ')}`;
const uses = (subject: string, account: string, to: string) =>
  `uses ${to} of ${account} as ${subject}`;

/** By account. */
function printedAccess({ servers }: BrokerSetup): Map<string, AccountAccess> {
  const names = servers.map(({ server }) => server);
  const fleet = [
    ...exportsTo(names).map((each) => offers(each.subject, each.servers.map(accountOf))),
    ...names.map((server) => uses(subjects.ping(server), accountOf(server), subjects.ping(server))),
  ];
  const each = servers.map(({ server }): [string, AccountAccess] => {
    const imports = importsOf(server).map(({ subject, to }) => uses(to ?? subject, FLEET, subject));
    const reach = [offers(subjects.ping(server), [FLEET]), ...imports];
    return [accountOf(server), { hasStreams: false, reach }];
  });
  return new Map([[FLEET, { hasStreams: true, reach: fleet }], ...each]);
}

const word = f.text(1_024);
const accountField = f.object({
  data: f.nullable(
    f.object({
      jetstream_enabled: f.flag,
      exports: f.optional(
        f.list(
          f.object({ subject: word, approved_accounts: f.optional(f.list(word, 10_000)) }),
          100_000,
        ),
      ),
      imports: f.optional(
        f.list(f.object({ subject: word, account: word, to: f.optional(word) }), 100_000),
      ),
    }),
  ),
});

/** What an account of the broker has; undefined if the broker has no such account. */
async function realAccess(monitor: Broker, account: string) {
  const answer = await monitor.request(`$SYS.REQ.ACCOUNT.${account}.INFO`, '', ANSWER);
  const data = f.parsedValue(answer ?? '', accountField)?.data;
  if (!data) return undefined;
  const { jetstream_enabled: hasStreams, exports = [], imports = [] } = data;
  const own = imports.filter((each) => each.account !== SYSTEM);
  const reach = [
    ...exports.map(({ subject, approved_accounts: to = [] }) => offers(subject, to)),
    ...own.map(({ subject, account: of, to = subject }) => uses(subject, of, to)),
  ];
  return { hasStreams, reach };
}

/** Of each question, in ms. */
const ANSWER = 5_000;
/** Connections in one answer. */
const PAGE = 1_000;

const connectionsField = f.object({
  data: f.object({
    total: f.whole(0),
    connections: f.list(
      f.object({ authorized_user: f.optional(word), account: f.optional(word) }),
      PAGE,
    ),
  }),
});

/** The keys that are logged in now, with their accounts. */
async function logins(monitor: Broker): Promise<{ key: string; account: string }[] | undefined> {
  const found: { key: string; account: string }[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const question = JSON.stringify({ auth: true, limit: PAGE, offset });
    const answer = await monitor.request('$SYS.REQ.SERVER.PING.CONNZ', question, ANSWER);
    const page = f.parsedValue(answer ?? '', connectionsField)?.data;
    if (!page) return undefined;
    for (const { authorized_user: key, account } of page.connections)
      if (key !== undefined && account !== undefined) found.push({ key, account });
    if (offset + PAGE >= page.total) return found;
  }
}

/** `monitor` is logged in with the key of `broker check`. */
export async function comparedWith(monitor: Broker, setup: BrokerSetup) {
  const missing: string[] = [];
  const different: string[] = [];
  for (const [account, printed] of printedAccess(setup)) {
    const real = await realAccess(monitor, account);
    if (real) different.push(...differences(account, printed, real));
    else missing.push(`there is no account ${account}`);
  }
  const live = await logins(monitor);
  const unseen = setup.servers.filter(({ nkey }) => !live?.some(({ key }) => key === nkey));
  return {
    /** A sentence for each difference, the worst first. */
    problems: [...loginProblems(live, setup), ...missing, ...different],
    /** Servers that are not logged in: which account their key leads to cannot be asked. */
    unseen: unseen.map(({ server }) => server),
  };
}

function loginProblems(live: Awaited<ReturnType<typeof logins>>, setup: BrokerSetup): string[] {
  const owners = new Map([
    [setup.operator, { name: 'the operator', account: FLEET }],
    [setup.monitor, { name: 'broker check', account: SYSTEM }],
    ...setup.servers.map(
      ({ server, nkey }) => [nkey, { name: server, account: accountOf(server) }] as const,
    ),
  ]);
  const accounts = new Set([...owners.values()].map(({ account }) => account));
  if (!live?.some(({ key, account }) => key === setup.monitor && account === SYSTEM))
    return ['the key of broker check is not in the system account'];
  const problems = live.flatMap(({ key, account }) => {
    const owner = owners.get(key);
    if (owner && owner.account !== account)
      return [`${owner.name} is in the account ${account}, not ${owner.account}`];
    return !owner && accounts.has(account) ? [`another key is in the account ${account}`] : [];
  });
  return [...new Set(problems)];
}

function differences(account: string, printed: AccountAccess, real: AccountAccess): string[] {
  const more = real.reach.filter((each) => !printed.reach.includes(each));
  const less = printed.reach.filter((each) => !real.reach.includes(each));
  return [
    ...(real.hasStreams === printed.hasStreams
      ? []
      : [`${account} has ${real.hasStreams ? '' : 'no '}streams of its own`]),
    ...more.map((each) => `${account} ${each}`),
    ...less.map((each) => `${account} does not have: ${each}`),
  ];
}
