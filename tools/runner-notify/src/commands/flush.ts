import { command } from '@runner/common/command';
import type { Ending } from '../courier.ts';
import type { Result } from '../delivery.ts';
import { resultLine } from '../result-text.ts';

export const flush = command({
  name: 'flush',
  about: 'Deliver the messages that are queued',
  details: [
    'Goes on with what earlier commands could not deliver, oldest first and within the rates of the',
    'services, and ends when nothing more is due. Prints one result per message that leaves the',
    'queue, and nothing when there is none. It may run at any time, e.g. every minute: where another',
    'process is delivering already, it leaves the work to that one.',
    '',
    'What the services refuse is put aside, see `runner notify queue`; that is no failure of this',
    'command.',
  ].join('\n'),
  options: {
    now: {
      kind: 'flag',
      about:
        'Also try what waits after trouble that passes; never what a service asked to wait for',
    },
  },
  examples: ['runner notify flush', '* * * * * root runner notify flush'],
  async run(context) {
    const { io, options, paths, note, title } = context;
    const { openSpool } = await import('../spool/spool.ts');
    const spool = openSpool(paths);
    const waiting = new Set(spool.names().map((name) => name.split('.')[1]));
    // Nothing is loaded, read or told when there is nothing to do.
    if (waiting.size === 0) return {};
    const { clockOf } = await import('../clock.ts');
    const { headOf, resultOf } = await import('../delivery.ts');
    const { openChannels } = await import('../opening.ts');
    const { announceableOf } = await import('../records.ts');
    const { CHANNEL_NAMES } = await import('../selection.ts');
    const { carriedOf } = await import('../spool/carrier.ts');
    const { drain, giveUpInactive } = await import('../spool/draining.ts');
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
        const all = { io, paths, title, opened, spool, name, now: options.now };
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
    return {};
  },
  human: (result: Result, style) => resultLine(result, style),
});

function countOf(count: number): string {
  return count === 1 ? '1 message stays queued' : `${count} messages stay queued`;
}

function seconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1000)} s`;
}
