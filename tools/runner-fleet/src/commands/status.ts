import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';
import { durationText } from '@runner/common/text/time';
import type { Broker } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import { chooseServers } from '@runner/fleet/files/operator';
import { orderOf } from '@runner/fleet/order/order';
import type { AppOnServer } from '@runner/fleet/order/state';
import { withFleet } from '../rollout/connect.ts';
import { NO_ANSWER } from '../rollout/line.ts';
import { askAll, lastState, type PingReply } from '../rollout/presence.ts';
import { rolloutOf } from '../rollout/rollout.ts';
import { ON } from './plumbing.ts';

/** A clock that is off by more is marked, in ms. */
const SKEW = 60_000;

export const status = command({
  name: 'status',
  about: 'Show which servers are online and what they run',
  details: "behind: the server does not run the commit of the app's newest rollout.",
  positionals: { app: { about: 'Only this app' } },
  options: { on: ON, strict: { about: 'Exit 4 if a server does not answer' } },
  exits: [[NO_ANSWER, 'With --strict: a server does not answer']],
  async run(context) {
    const { paths, args, options } = context;
    const servers = chooseServers(paths.root, options.on);
    return withFleet(context, async (broker) => {
      const answers = await askAll(context, broker, servers);
      const rows = await Promise.all(answers.map((answer) => rowOf(broker, answer)));
      const apps = new Set(rows.flatMap((row) => row.apps.map(({ app }) => app)));
      const commits = new Map(await Promise.all([...apps].map((app) => wantedCommit(broker, app))));
      const shown = rows.map((row) => ({
        ...row,
        apps: row.apps
          .filter(({ app }) => args.app === undefined || app === args.app)
          .map((app) => ({ ...app, behind: isBehind(app, commits.get(app.app)) })),
      }));
      const isOff = shown.some(({ state }) => state !== 'up');
      return {
        value: { count: shown.length, servers: shown },
        status: options.strict && isOff ? NO_ANSWER : 0,
      };
    });
  },
  human: ({ servers }: { servers: ServerRow[] }) => servers.map(rowText).join(''),
});

type ServerRow = Awaited<ReturnType<typeof rowOf>>;

async function rowOf(broker: Broker, { server, state, problem: wrong, ping_ms, skew }: PingReply) {
  const last = state ? undefined : await lastState(broker, server);
  const known = state ?? (last && 'value' in last ? last.value : undefined);
  const problem = wrong ?? (last && 'problem' in last ? last.problem : null);
  return {
    server: server.server,
    groups: server.groups,
    /** bad: the reply, or what an offline server stored last, is not signed by it or cannot be read. */
    state: state ? 'up' : problem === null ? 'offline' : 'bad',
    /** What is bad. */
    problem,
    ping_ms: state ? ping_ms : null,
    last_seen: known?.at ?? null,
    clock_skew_ms: state ? skew : null,
    agent: known?.agent ?? null,
    apps: (known?.apps ?? []).map((app) => ({ ...app, behind: false })),
    events: known?.events ?? null,
    junk: known?.junk ?? null,
  };
}

/** The commit of the newest rollout of an app. */
async function wantedCommit(broker: Broker, app: string): Promise<[string, string | undefined]> {
  const stored = await broker.last('ROLLOUT', subjects.rollout(app));
  const order = orderOf(rolloutOf(stored?.text)?.order.body ?? '');
  return [app, order?.verb === 'deploy' ? order.ref : undefined];
}

function isBehind({ commit }: AppOnServer, wanted: string | undefined): boolean {
  return wanted !== undefined && commit !== wanted;
}

/** States that need no word, or that `held` says. */
const QUIET = ['ok', 'new', 'paused', 'stopped'];
const WATCHES = new Map([
  ['bad', 'its watch was bad'],
  ['not_judged', 'its watch was not judged'],
  ['watching', 'watched'],
]);

/** `shop v1.4.0 down, behind, paused by ada: release party`. */
function appText({ app, version, behind, held, ...why }: ServerRow['apps'][number]): string {
  const word = why.state === undefined || QUIET.includes(why.state) ? '' : why.state;
  const by = why.held_by ? ` by ${why.held_by}` : '';
  const reason = why.held_reason ? `: ${why.held_reason}` : '';
  const states = [
    word === 'held' ? 'on hold' : word,
    WATCHES.get(why.watch ?? '') ?? '',
    behind ? 'behind' : '',
    held ? `${held}${by}${reason}` : '',
    why.waits ?? '',
  ].filter(Boolean);
  return `${app} ${[version ?? '-', states.join(', ')].filter(Boolean).join(' ')}`;
}

function rowText({
  server,
  groups,
  state,
  problem,
  ping_ms,
  last_seen,
  clock_skew_ms: skew,
  apps,
  events,
  junk,
}: ServerRow): string {
  const there =
    state === 'up'
      ? `up ${ping_ms} ms`
      : `${state}, last seen ${harmlessLine(last_seen ?? 'never')}`;
  const why = problem === null ? '' : `  ${harmlessLine(problem)}`;
  const late = events?.waiting ? `  ${events.waiting} bytes of events waiting` : '';
  const orders =
    junk === 1
      ? 'message in its mailbox was not an order'
      : 'messages in its mailbox were not orders';
  const discarded = junk ? `  ${junk} ${orders}` : '';
  const clock =
    skew !== null && Math.abs(skew) > SKEW
      ? `  clock ${skew > 0 ? '+' : '-'}${durationText(Math.abs(skew))} !`
      : '';
  const list = apps.map((each) => `  ${harmlessLine(appText(each))}`);
  return `${server.padEnd(12)}  ${groups.join(',').padEnd(8)}  ${there}${why}${clock}${late}${discarded}${list.join('')}\n`;
}
