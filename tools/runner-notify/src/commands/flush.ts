import { command } from '@runner/common/cli/command';
import { channelsIn, type DestinationName } from '@runner/common/config/channels';
import { TELEMETRY_NAMES, telemetryIn } from '@runner/common/config/telemetry-schema';
import { isThere, readTextIfThere } from '@runner/common/files/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Paths } from '@runner/common/foundation/paths';
import { channelOption } from '../channels/options.ts';
import { resultLine, type SendResult } from '../deliver/result.ts';
import { cursorFile, entryNames } from '../spool/names.ts';

export const flush = command({
  name: 'flush',
  needsRoot: true,
  about: 'Deliver queued messages',
  details:
    'Delivers queued messages, oldest first and within the rate limits of the services, and what the audit\n' +
    'log has on deploys for section telemetry of config.yml, and exits when none is due. Prints one result per message that leaves the queue. Run it every minute: if another\n' +
    'process is delivering, it leaves the work to that process.\n' +
    '\n' +
    'Messages that a service refuses are set aside (see `runner notify queue`) and do not change the\n' +
    'exit status.',
  options: {
    channel: channelOption(
      'Only these channels; all means all but the code host [default: everything]',
      'all',
      'code-host',
      ...TELEMETRY_NAMES,
    ),
    now: {
      about:
        'Also retry messages that wait after a temporary problem, but not if the service asked to wait',
    },
  },
  examples: ['runner notify flush', '* * * * * root runner notify flush'],
  async run(context) {
    // With nothing to do nothing else is loaded.
    const { paths } = context;
    if (entryNames(paths.notifySpool).length === 0 && !mayFollow(paths)) return {};
    const { flushAll } = await import('../deliver/flush.ts');
    await flushAll(context, context.options.now, destinationsIn(context.options.channel));
    return {};
  },
  human: (result: SendResult, style) => resultLine(result, style),
});

/** undefined: everything. */
function destinationsIn(list: string | undefined): readonly DestinationName[] | undefined {
  if (list === undefined) return undefined;
  const status = list.split(',').includes('code-host') ? (['code-host'] as const) : [];
  return [...channelsIn(list), ...status, ...telemetryIn(list)];
}

/** Bytes; a larger config.yml is refused by every reader. */
const CONFIG_MAX = 65_536;

/** Whether config.yml may have the section, or had it; reading it whole costs more. */
function mayFollow(paths: Paths): boolean {
  if (isThere(cursorFile(paths))) return true;
  const text = unlessFailure(() => readTextIfThere(paths.config, CONFIG_MAX), undefined);
  return /^["']?telemetry["']?\s*:/m.test(text ?? '');
}
