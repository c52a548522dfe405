/** Delivers what is due, whoever queued it, and tells what stays queued. */
import type { Context } from '@runner/common/cli/command';
import { CHANNEL_NAMES } from './channels/words.ts';
import { clockOf } from './clock.ts';
import type { Ending } from './courier.ts';
import { headOf, resultOf } from './delivery.ts';
import { openChannels } from './opening.ts';
import { announceableOf } from './records.ts';
import { carriedOf } from './spool/carried.ts';
import { drain, giveUpInactive } from './spool/draining.ts';
import { channelOf } from './spool/names.ts';
import { openSpool } from './spool/spool.ts';

/** Prints one result per message that leaves the queue. `now`: also what waits for a backoff. */
export async function flushAll(
  context: Pick<Context, 'io' | 'paths' | 'title' | 'note' | 'print'>,
  now: boolean,
): Promise<void> {
  const { io, paths, note, title } = context;
  const spool = openSpool(paths);
  const waiting = new Set(spool.names().map(channelOf));
  const clock = clockOf(io);
  const opened = openChannels({ io, paths, clock, title, note });

  const print = async (ending: Ending): Promise<void> => {
    const record = announceableOf(ending.entry.event);
    if (record === undefined || typeof record === 'string') return;
    const head = headOf(await opened.noticeOf(record), ending.entry.channel);
    await context.print({ ...head, ...resultOf(carriedOf(ending)) });
  };
  await Promise.all(
    CHANNEL_NAMES.filter((name) => waiting.has(name)).map(async (name) => {
      if (!opened.active.includes(name)) {
        const count = giveUpInactive(spool, name, clock.now());
        if (count > 0) note(`${name}: ${countOf(count)}: the channel is not active`);
        return;
      }
      const printing: Promise<void>[] = [];
      const all = { io, paths, title, opened, spool, name, now };
      const left = await drain(all, (ending) => printing.push(print(ending)));
      await Promise.all(printing);
      const count = spool.names(name).length;
      if (!left || count === 0) return;
      if (left.why === 'busy') note(`${name}: another process is delivering`);
      else if (left.why === 'asked')
        note(`${name}: ${countOf(count)}: the service asks to wait ${seconds(left.wait)}`);
      else note(`${name}: ${countOf(count)}: the next try is in ${seconds(left.wait)}`);
    }),
  );
}

function countOf(count: number): string {
  return count === 1 ? '1 message stays queued' : `${count} messages stay queued`;
}

function seconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1000)} s`;
}
