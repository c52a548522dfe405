/** Subjects and streams of the broker. Permissions depend on these names. */

/** Largest message, in bytes. */
export const MESSAGE_MAX = 1_048_576;

export const subjects = {
  order: (server: string) => `runner.order.${server}`,
  result: (server: string, order: string) => `runner.result.${server}.${order}`,
  events: (server: string) => `runner.event.${server}`,
  /** Not stored: which step of an order is running. */
  step: (server: string, order: string) => `runner.step.${server}.${order}`,
  state: (server: string) => `runner.state.${server}`,
  rollout: (app: string) => `runner.rollout.${app.replaceAll('.', '%')}`,
  /** Which server runs it. */
  job: (app: string, job: string) =>
    `runner.job.${app.replaceAll('.', '%')}.${job.replaceAll('.', '%')}`,
  ping: (server: string) => `runner.ping.${server}`,
};

/** Prefix under which a server uses the fleet account's JetStream API; its own account has none. */
export const AGENT_API = 'FL.API';

/** A server's account in the broker. */
export const accountOf = (server: string) => `SRV_${server}`;

const DAY = 24 * 3_600 * 1e9;

export type StreamName = 'ORDERS' | 'RESULTS' | 'EVENTS' | 'STATE' | 'ROLLOUT' | 'JOBS';

/** `max_age` in ns. */
export const STREAMS: readonly {
  name: StreamName;
  subjects: readonly string[];
  max_age: number;
  max_msgs_per_subject: number;
}[] = [
  { name: 'ORDERS', subjects: ['runner.order.*'], max_age: 7 * DAY, max_msgs_per_subject: -1 },
  { name: 'RESULTS', subjects: ['runner.result.*.*'], max_age: 90 * DAY, max_msgs_per_subject: -1 },
  { name: 'EVENTS', subjects: ['runner.event.*'], max_age: 400 * DAY, max_msgs_per_subject: -1 },
  { name: 'STATE', subjects: ['runner.state.*'], max_age: 0, max_msgs_per_subject: 1 },
  { name: 'ROLLOUT', subjects: ['runner.rollout.*'], max_age: 0, max_msgs_per_subject: 1 },
  { name: 'JOBS', subjects: ['runner.job.*.*'], max_age: 400 * DAY, max_msgs_per_subject: 1 },
];

/** A subject of the fleet account in a server's; `stream`: with several replies. */
interface ImportedSubject {
  readonly subject: string;
  readonly to?: string;
  readonly stream?: true;
}

const api = (subject: string): ImportedSubject => ({
  subject: `$JS.API.${subject}`,
  to: `${AGENT_API}.${subject}`,
});

/** What a server's account imports from the fleet account. */
export function importsOf(server: string): ImportedSubject[] {
  return [
    { subject: subjects.events(server) },
    { subject: subjects.result(server, '*') },
    { subject: subjects.step(server, '*') },
    { subject: subjects.state(server) },
    api(`CONSUMER.INFO.ORDERS.${server}`),
    { ...api(`CONSUMER.MSG.NEXT.ORDERS.${server}`), stream: true },
    { subject: `$JS.ACK.ORDERS.${server}.>` },
    api(`DIRECT.GET.EVENTS.${subjects.events(server)}`),
    ...sharedImports(),
  ];
}

/** What all servers' accounts import: whose job is it? */
function sharedImports(): ImportedSubject[] {
  const subject = subjects.job('*', '*');
  return [{ subject }, api(`DIRECT.GET.JOBS.${subject}`)];
}

/** What the fleet account exports, and to which servers. */
export function exportsTo(
  servers: readonly string[],
): (ImportedSubject & { readonly servers: readonly string[] })[] {
  const shared = sharedImports();
  const own = servers.flatMap((server) => {
    const all = importsOf(server).slice(0, -shared.length);
    return all.map((each) => ({ ...each, servers: [server] }));
  });
  // One entry for all: another one of the same subject would replace it.
  return [...own, ...(servers.length > 0 ? shared.map((each) => ({ ...each, servers })) : [])];
}
