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
  ping: (server: string) => `runner.ping.${server}`,
};

/** Prefix under which a server uses the fleet account's JetStream API; its own account has none. */
export const AGENT_API = 'FL.API';

/** A server's account in the broker. */
export const accountOf = (server: string) => `SRV_${server}`;

const DAY = 24 * 3_600 * 1e9;

export type StreamName = 'ORDERS' | 'RESULTS' | 'EVENTS' | 'STATE' | 'ROLLOUT';

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
];

/** What a server's account imports from the fleet account; `stream`: with several replies. */
export function importsOf(server: string): { subject: string; to?: string; stream?: true }[] {
  const api = (subject: string) => ({
    subject: `$JS.API.${subject}`,
    to: `${AGENT_API}.${subject}`,
  });
  return [
    { subject: subjects.events(server) },
    { subject: subjects.result(server, '*') },
    { subject: subjects.step(server, '*') },
    { subject: subjects.state(server) },
    api(`CONSUMER.INFO.ORDERS.${server}`),
    { ...api(`CONSUMER.MSG.NEXT.ORDERS.${server}`), stream: true },
    { subject: `$JS.ACK.ORDERS.${server}.>` },
    api(`DIRECT.GET.EVENTS.${subjects.events(server)}`),
  ];
}
