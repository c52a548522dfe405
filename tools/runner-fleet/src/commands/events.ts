import { resolve } from 'node:path';
import {
  isOfKind,
  kindOf,
  type LogRecord,
  projectOf,
  readRecord,
  textOf,
  withBothNames,
} from '@runner/common/audit/record';
import { type Context, command } from '@runner/common/cli/command';
import { EXIT, Failure } from '@runner/common/foundation/failure';
import { readAll } from '@runner/common/foundation/io';
import { poll } from '@runner/common/foundation/poll';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { timeOfIso } from '@runner/common/text/time';
import { chooseServers } from '@runner/fleet/files/operator';
import { EVENT, lineCount, timeOf } from '@runner/history/log/options';
import { readCursor, writeCursor } from '../events/cursor.ts';
import { type EventSource, ServerEvents } from '../events/read.ts';
import { shippedEvents } from '../events/shipped.ts';
import { openFleet } from '../rollout/connect.ts';

type ServerRecord = LogRecord & { readonly server: string };

/** Between two reads with --follow, in ms. */
const LOOK = 1_000;
/** Of a broker that is restarted, or was given an empty store. */
const PASSING = new Set(['broker_unreachable', 'broker_unsafe', 'broker_failed']);
/** Of standard input, in bytes. */
const SHIPPED_MAX = 268_435_456;

export const SERVER = {
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
    project: { placeholder: 'APP', about: 'Only this app' },
    event: EVENT,
    since: {
      placeholder: 'TIME',
      about: 'Only events from this time on, such as 2026-12-24T18:00Z or 7d',
    },
    follow: {
      short: 'f',
      about: 'Follow new events; older ones only with -n, --since or --cursor',
    },
    lines: { short: 'n', placeholder: 'N', about: 'Only the N newest' },
    cursor: {
      placeholder: 'FILE',
      about: 'Start after the last event recorded in this file, and keep the file up to date',
    },
    raw: {
      about: 'Print the lines of the logs unchanged',
      conflicts: ['project', 'event', 'since', 'lines'],
    },
    stdin: {
      about: 'Read the output of runner agent ship instead of the broker',
      conflicts: ['follow'],
    },
  },
  exits: [
    [
      EXIT.failed,
      'A message is not signed by its server, or cannot be read, or records are missing',
    ],
  ],
  async run(context) {
    const { io, options, note } = context;
    const isWanted = filterOf(options, io.now());
    const cursor = options.cursor === undefined ? undefined : resolve(io.cwd, options.cursor);
    const before = cursor === undefined ? undefined : readCursor(cursor);
    const isNewOnly = options.follow && options.since === undefined && before === undefined;
    const limit =
      options.lines === undefined
        ? isNewOnly
          ? 0
          : Number.POSITIVE_INFINITY
        : lineCount(options.lines);
    const sources = chooseServers(context.paths.root, options.server).map(
      (each) => new ServerEvents(each, before?.[each.server]),
    );
    const broker = options.stdin ? undefined : await openFleet(context);
    let isForged = false;
    const report = (problem: string) => {
      note(`${problem} (events_forged)`);
      isForged = true;
    };
    const source =
      broker ?? shippedEvents(readAll(io.stdin, SHIPPED_MAX, 'standard input'), report);
    let isBack = false;
    void broker?.onReconnect(() => {
      isBack = true;
    });
    const look = async (most: number) => {
      if (isBack) for (const each of sources) each.rewind();
      isBack = false;
      try {
        await show(context, source, sources, { raw: options.raw, most, isWanted });
      } finally {
        // What the output did not take is printed again.
        if (cursor !== undefined && !io.stdout.closed) writeCursor(cursor, before, sources);
        for (const { problems } of sources) problems.splice(0).forEach(report);
      }
    };
    try {
      await look(limit);
      const status = options.follow ? await follow(context, look) : EXIT.ok;
      const isWhole = !isForged && sources.every(({ gaps }) => gaps === 0);
      return { status: status || (isWhole ? EXIT.ok : EXIT.failed) };
    } finally {
      await broker?.close();
    }
  },
  human: (record: ServerRecord) => {
    const text = (field: string) => harmlessLine(textOf(record, field));
    const word = (value: unknown) => harmlessLine(typeof value === 'string' ? value : '?');
    const kind = word(kindOf(record));
    return `${text('timestamp')}  ${record.server.padEnd(12)}  ${kind.padEnd(15)}  ${word(projectOf(record))}  ${text('version')}\n`;
  },
});

type EventFilter = Readonly<Record<'project' | 'event' | 'since', string | undefined>>;

/** Throws `usage`. */
function filterOf(
  { project, event, since }: EventFilter,
  now: Date,
): (record: LogRecord) => boolean {
  const from = since === undefined ? Number.NEGATIVE_INFINITY : timeOf(since, 'since', now);
  return (record) =>
    (project === undefined || projectOf(record) === project) &&
    (event === undefined || isOfKind(record, event)) &&
    (since === undefined || timeOfIso(textOf(record, 'timestamp')) >= from);
}

interface EventsView {
  readonly raw: boolean;
  /** How many records, the newest; lines of logs are printed all, or none if it is 0. */
  readonly most: number;
  isWanted(record: LogRecord): boolean;
}

/** Prints the records since the last call, sorted by time; what was read before a failure is not lost. */
async function show(
  { io, note, print }: Pick<Context, 'io' | 'note' | 'print'>,
  broker: EventSource,
  sources: readonly ServerEvents[],
  { raw, most, isWanted }: EventsView,
): Promise<void> {
  const found: ServerRecord[] = [];
  try {
    for (const source of sources) {
      for await (const { server, bytes, gap } of source.unread(broker)) {
        if (gap)
          note(
            `records of ${server} are missing: rotated away before they were sent, or too long to send (events_gap)`,
          );
        if (most === 0) continue;
        // A terminal must not obey a line that is not a record.
        if (raw) io.stdout.write(io.stdout.isTTY ? harmless(bytes.toString('utf8')) : bytes);
        else
          for (const line of bytes.toString('utf8').split('\n')) {
            const record = readRecord(line);
            if (record && isWanted(record)) found.push({ ...withBothNames(record), server });
          }
      }
    }
  } finally {
    const time = (record: LogRecord) => textOf(record, 'timestamp');
    found.sort((a, b) => (time(a) < time(b) ? -1 : time(a) > time(b) ? 1 : 0));
    for (const record of found.slice(Math.max(0, found.length - most))) await print(record);
  }
}

/** Looks for new events until a signal comes or the reader leaves, also through a restart of the broker. */
async function follow(
  { io, note }: Pick<Context, 'io' | 'note'>,
  look: (most: number) => Promise<void>,
): Promise<number> {
  let next = 0;
  let isLost = false;
  return poll(io, async () => {
    if (io.elapsed() < next) return 'wait';
    try {
      await look(Number.POSITIVE_INFINITY);
      isLost = false;
    } catch (error) {
      if (!(error instanceof Failure && PASSING.has(error.code))) throw error;
      if (!isLost) note(`${error.message}; trying again (${error.code})`);
      isLost = true;
    }
    next = io.elapsed() + LOOK;
    return 'wait';
  });
}
