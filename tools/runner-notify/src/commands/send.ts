import { command, noteTyping } from '@runner/common/cli/command';
import { APART, runApart } from '@runner/common/foundation/apart';
import { EXIT, invalidValue } from '@runner/common/foundation/failure';
import { channelOption } from '../channels/options.ts';
import { resultLine, type SendResult } from '../deliver/result.ts';

/** Longest `--wait`, in seconds: a day. */
const WAIT_MAX = 86_400;
/** Exit status of --strict when a message is still queued. */
const STILL_QUEUED = 4;

export const send = command({
  name: 'send',
  about: 'Send notifications for the deploy events on standard input',
  details:
    'Reads one JSON record per line, as `runner audit emit` prints them, and announces DeployStarted,\n' +
    'DeploySuccess, DeployFailure, RollbackSuccess, and changes of state such as AppDown or TokenEnding.\n' +
    'Records of what an operator did, such as AppStopped, are ignored. Prints one result per record and\n' +
    'channel. The audit log is not written.\n' +
    '\n' +
    'Each record is saved to disk first. What is not delivered within --wait stays queued: the\n' +
    'next `send` or `flush` delivers it, for up to 24 hours. Messages that a service refuses are set\n' +
    'aside; `runner notify queue` shows them. Neither changes the exit status without --strict.',
  options: {
    channel: channelOption(
      "Where to announce [default: the choice of the app's .deploy.yml]",
      'all',
      'none',
      'code-host',
    ),
    wait: {
      placeholder: 'SECONDS',
      default: '5',
      about: 'How long to wait for the delivery of a record [default: 5]',
    },
    strict: { about: 'Exit with 1 when a message was refused, with 4 when one is still queued' },
    once: { about: 'Skip records that a channel accepted recently' },
    'dry-run': { about: 'Print what would be sent; queue and send nothing' },
  },
  exits: [[STILL_QUEUED, 'With --strict: a message is still queued']],
  examples: [
    'runner-audit emit < events.jsonl | runner notify send',
    'runner notify send --channel telegram --json < events.jsonl',
    'runner notify send --dry-run < events.jsonl',
  ],
  async run(context) {
    const { io, options } = context;
    const wait = millisecondsOf(options.wait);
    if (io.env[APART] === undefined) noteTyping(context, 'records');
    // A request that is killed before its answer is read is sent again: killing `send` must not kill it.
    if (!options['dry-run'] && options.channel !== 'none' && io.env[APART] === undefined) {
      const status = await runApart(io);
      if (status !== undefined) return { status };
    }
    const { announceAll } = await import('../deliver/send.ts');
    const { results, sound } = await announceAll(context, {
      wait,
      channel: options.channel,
      dryRun: options['dry-run'],
      once: options.once,
    });
    if (!sound) return { status: EXIT.failed };
    if (!options.strict) return {};
    if (results.some((each) => each === 'rejected' || each === 'failed'))
      return { status: EXIT.failed };
    return { status: results.includes('queued') ? STILL_QUEUED : EXIT.ok };
  },
  human: (result: SendResult, style) => resultLine(result, style),
});

function millisecondsOf(text: string): number {
  const seconds = /^\d{1,6}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= WAIT_MAX) return seconds * 1000;
  throw invalidValue(
    text,
    '--wait <SECONDS>',
    `it is not a number of seconds from 0 to ${WAIT_MAX}`,
  );
}
