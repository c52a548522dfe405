import { command } from '@runner/common/cli/command';
import type { Result } from '../delivery.ts';
import { resultLine } from '../result-text.ts';
import { entryNames } from '../spool/names.ts';

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
    // Nothing is loaded, read or told when there is nothing to do.
    if (entryNames(context.paths.notifySpool).length === 0) return {};
    const { flushAll } = await import('../flushing.ts');
    await flushAll(context, context.options.now);
    return {};
  },
  human: (result: Result, style) => resultLine(result, style),
});
