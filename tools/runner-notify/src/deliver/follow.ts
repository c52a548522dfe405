/**
 * Queues what the audit log has on deploys for the services of `telemetry`, from where the last run ended.
 * Killed in between, the next run makes the same entries again, under the same names.
 */
import { statSync } from 'node:fs';
import { type LogOffset, LogReader } from '@runner/common/audit/log-piece';
import { textOf } from '@runner/common/audit/record';
import { TELEMETRY_NAMES, type TelemetryName } from '@runner/common/config/telemetry-schema';
import { makeFolder, readTextIfThere, removeIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import type { Paths } from '@runner/common/foundation/paths';
import { jsonObject } from '@runner/common/text/json';
import { telemetryMessage } from '../channels/telemetry/telemetry.ts';
import { Joiner } from '../message/joined.ts';
import { linesOf, PLACE, type RecordLine, withoutSecrets } from '../message/records.ts';
import { newEntry, storedEvent } from '../spool/entry.ts';
import { cursorFile, entryName } from '../spool/names.ts';
import { lockChannel } from '../spool/spool.ts';
import type { OpenChannels } from './channels.ts';

/** Bytes; the file is shorter. */
const CURSOR_MAX = 4_096;
/** Milliseconds that the clock of a record's writer may be ahead. */
const AHEAD_MAX = 86_400_000;
/** Milliseconds for which config.yml has not changed: it is as it is meant to be. */
const SETTLED = 60_000;

/** Where the next run begins; times are milliseconds since 1970. */
interface Cursor extends Partial<LogOffset> {
  /** Older records are from before `telemetry` was configured. */
  readonly since: number;
  /** In the name of the newest entry: names sort in the order of the log. */
  readonly last: number;
}

/** Leaves the work to another process that is at it. */
export async function follow(opened: OpenChannels, names: readonly TelemetryName[]): Promise<void> {
  const { options, spool, redact, clock } = opened;
  const { paths } = options;
  using lock = lockChannel(options, 'telemetry');
  if (!lock) return;
  const reader = new LogReader(paths);
  const clean = withoutSecrets(options);
  // An event may lie across pieces.
  const joiner = new Joiner<RecordLine>();
  let cursor = readCursor(paths);
  for (;;) {
    const { file, to = 0 } = cursor;
    const piece = reader.after(file === undefined ? undefined : { file, to });
    if (!piece && !joiner.isOpen) return;
    // A name has no room for times after the year 5188, which an earlier version let in.
    const latest = clock.now() + AHEAD_MAX;
    let last = cursor.last > latest ? 0 : cursor.last;
    for await (const line of piece ? linesOf([piece.bytes], joiner) : joiner.rest()) {
      if (!('record' in line)) continue;
      const { record } = line;
      const time = Date.parse(textOf(record.fields, 'timestamp')) || 0;
      const wanted = names.filter((name) => telemetryMessage(name, record));
      if (wanted.length === 0 || time < cursor.since) continue;
      last = Math.max(time > latest ? clock.now() : time, last + 1);
      const event = storedEvent((await clean(record)).fields, redact);
      const place = textOf(event, PLACE) || null;
      for (const name of wanted) {
        const entry = entryName(last, TELEMETRY_NAMES.indexOf(name) / 65_536, name);
        const known = spool.has(entry) || spool.has(entry, 'dead');
        if (!known) spool.save(entry, newEntry(name, event, new Date(clock.now()), place));
      }
    }
    const offset = piece && { file: piece.file, to: piece.from + piece.bytes.length };
    cursor = { ...cursor, ...offset, last };
    // Killed before its event is whole, the next run reads this piece again.
    if (joiner.isOpen) continue;
    makeFolder(paths.notifySpool, 0o700);
    writeWhole(cursorFile(paths), `${JSON.stringify(cursor)}\n`);
  }
}

/** What is recorded while no service is configured is not sent once one is again. */
export function unfollow({ options: { paths }, clock }: OpenChannels): void {
  const changed = statSync(paths.config, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  // config.yml may just be being written.
  if (clock.now() - changed > SETTLED) removeIfThere(cursorFile(paths));
}

/** Without one, or with a damaged one: what was recorded since config.yml was last changed. */
function readCursor(paths: Paths): Cursor {
  const text = readTextIfThere(cursorFile(paths), CURSOR_MAX) ?? '';
  const { since, last, file, to } = jsonObject(text) ?? {};
  if (typeof since !== 'number' || typeof last !== 'number')
    return { since: statSync(paths.config).mtimeMs, last: 0 };
  const isPlace = typeof file === 'string' && typeof to === 'number';
  return { since, last, ...(isPlace && { file, to }) };
}
