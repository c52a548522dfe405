import { setTimeout as pause } from 'node:timers/promises';
import { kindOf, type LogRecord, projectOf, readRecord, textOf } from '@runner/common/audit/record';
import { type Context, command } from '@runner/common/cli/command';
import { EXIT, usage } from '@runner/common/foundation/failure';
import { readAll } from '@runner/common/foundation/io';
import { harmlessLine } from '@runner/common/text/harmless';
import { timeOfIso } from '@runner/common/text/time';
import { chooseServers } from '@runner/fleet/files/operator';
import { type EventSource, ServerEvents } from '../events/read.ts';
import { shippedEvents } from '../events/shipped.ts';
import { openFleet } from '../rollout/connect.ts';

type EventRecord = LogRecord & { readonly server: string };

/** Between two reads with --follow, in ms. */
const LOOK = 1_000;
/** Of standard input, in bytes. */
const SHIPPED_MAX = 268_435_456;

export const SERVER = {
  kind: 'value',
  placeholder: 'NAME,…',
  about: 'Only these servers and groups',
} as const;

export const events = command({
  name: 'events',
  about: 'Show the deploy events of all servers',
  details:
    'Verifies the signature of each record and adds the field server. To announce the deploys of the fleet:\n' +
    'runner fleet events -f --json | runner notify send',
  options: {
    server: SERVER,
    project: { kind: 'value', placeholder: 'APP', about: 'Only this app' },
    event: { kind: 'value', placeholder: 'KIND', about: 'Only this kind, such as DeployFailure' },
    since: { kind: 'value', placeholder: 'TIME', about: 'Only events from this time on, ISO 8601' },
    follow: { kind: 'flag', short: 'f', about: 'Follow new events' },
    lines: { kind: 'value', short: 'n', placeholder: 'N', about: 'Only the N newest' },
    raw: { kind: 'flag', about: 'Print the lines of the logs unchanged' },
    stdin: {
      kind: 'flag',
      about: 'Read the output of runner agent ship instead of the broker',
      conflicts: ['follow'],
    },
  },
  exits: [[EXIT.failed, 'A record is not signed by its server, or records are missing']],
  async run(context) {
    const { io, options, print, note } = context;
    const limit = options.lines === undefined ? Number.POSITIVE_INFINITY : Number(options.lines);
    if (!(limit >= 0)) throw usage(`invalid value '${options.lines}' for '--lines <N>'`);
    const isWanted = filterOf(options);
    const sources = chooseServers(context.paths.root, options.server).map(
      (each) => new ServerEvents(each),
    );
    const broker = options.stdin ? undefined : await openFleet(context);
    const source = broker ?? shippedEvents(readAll(io.stdin, SHIPPED_MAX, 'standard input'));
    let isStopped = false;
    let isForged = false;
    io.onSignal(() => {
      isStopped = true;
    });
    try {
      for (let isFirst = true; ; isFirst = false) {
        const found = await read(context, source, sources, options.raw, isWanted);
        for (const record of isFirst ? found.slice(Math.max(0, found.length - limit)) : found)
          await print(record);
        for (const { problems } of sources)
          for (const problem of problems.splice(0)) {
            note(`${problem} (events_forged)`);
            isForged = true;
          }
        if (!options.follow || isStopped || io.stdout.closed) break;
        await pause(LOOK);
      }
      return { status: isForged ? EXIT.failed : EXIT.ok };
    } finally {
      await broker?.close();
    }
  },
  human: (record: EventRecord) => {
    const text = (field: string) => harmlessLine(textOf(record, field));
    const kind = harmlessLine(String(kindOf(record)));
    return `${text('timestamp')}  ${record.server.padEnd(12)}  ${kind.padEnd(15)}  ${harmlessLine(String(projectOf(record)))}  ${text('version')}\n`;
  },
});

interface Filter {
  readonly project: string | undefined;
  readonly event: string | undefined;
  readonly since: string | undefined;
}

/** Throws `usage`. */
function filterOf({ project, event, since }: Filter): (record: LogRecord) => boolean {
  const from = since === undefined ? Number.NEGATIVE_INFINITY : timeOfIso(since);
  if (Number.isNaN(from))
    throw usage(`invalid value '${since}' for '--since <TIME>': it must be ISO 8601`);
  return (record) =>
    (project === undefined || projectOf(record) === project) &&
    (event === undefined || kindOf(record) === event) &&
    (since === undefined || timeOfIso(textOf(record, 'timestamp')) >= from);
}

/** The records since the last call, sorted by time; with `raw` lines are written immediately. */
async function read(
  { io, note }: Pick<Context, 'io' | 'note'>,
  broker: EventSource,
  sources: readonly ServerEvents[],
  raw: boolean,
  isWanted: (record: LogRecord) => boolean,
): Promise<EventRecord[]> {
  const found: EventRecord[] = [];
  for (const source of sources) {
    for await (const { server, bytes, gap } of source.unread(broker)) {
      if (gap) note(`records of ${server} were rotated away before they were sent (events_gap)`);
      if (raw) io.stdout.write(bytes);
      else
        for (const line of bytes.toString('utf8').split('\n')) {
          const record = line === '' ? undefined : readRecord(line);
          if (record && isWanted(record)) found.push({ ...record, server });
        }
    }
  }
  const time = (record: LogRecord) => textOf(record, 'timestamp');
  return found.sort((a, b) => (time(a) < time(b) ? -1 : time(a) > time(b) ? 1 : 0));
}
