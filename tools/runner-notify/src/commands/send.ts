import { command } from '@runner/common/command';
import { EXIT, usage } from '@runner/common/failure';
import { harmlessLine } from '@runner/common/harmless';
import type { ChannelOption, Delivery, Result } from '../delivery.ts';

/** Longest time that one message may be retried: a day. */
const WAIT_MAX = 86_400;

export const send = command({
  name: 'send',
  about: 'Announce the deploy events that stand on standard input',
  details: [
    'Reads one JSON record per line, as `runner-audit emit` prints them (`event` and `app` are',
    'taken as well as `event_type` and `project`), and announces DeployStarted, DeploySuccess,',
    'DeployFailure and RollbackSuccess as they arrive. Records of other kinds are passed over.',
    'Prints one result per record and channel. Nothing is written to the audit log.',
    '',
    'A message that cannot be delivered is told on standard error and in its result; it is no',
    'failure of this command unless --strict is given.',
  ].join('\n'),
  options: {
    channel: {
      kind: 'value',
      placeholder: 'CHANNEL',
      choices: ['telegram', 'discord', 'both', 'none'],
      about: "Where to announce [default: as the app's .deploy.yml says]",
    },
    wait: {
      kind: 'value',
      placeholder: 'SECONDS',
      default: '5',
      about: 'How long a message is tried again before it is given up [default: 5]',
    },
    strict: { kind: 'flag', about: 'Exit with 1 when a message was not delivered' },
  },
  examples: [
    'runner-audit emit < events.jsonl | runner notify send',
    'runner notify send --channel telegram --json < events.jsonl',
  ],
  async run(context) {
    const { io, options, paths, note } = context;
    const wait = millisecondsOf(options.wait);
    const { linesOf } = await import('../records.ts');
    let delivery: Delivery | undefined;
    let status: number = EXIT.ok;
    for (const line of linesOf(io.stdin)) {
      if ('problem' in line) {
        note(`line ${line.number}: ${line.problem}`);
        status = EXIT.failed;
        continue;
      }
      // A file that is wrong stops nobody who has nothing to announce.
      if (!delivery) {
        const { openDelivery } = await import('../delivery.ts');
        delivery = openDelivery({
          io,
          paths,
          wait,
          channel: options.channel as ChannelOption,
          note,
        });
      }
      for (const result of await delivery.announce(line.record)) {
        await context.print(result);
        const lost = result.result === 'failed' || result.result === 'rejected';
        if (options.strict && lost) status = EXIT.failed;
      }
    }
    return { status };
  },
  human(result: Result, style) {
    const { event_type, project, version, deploy_id, messages } = result;
    const colour = {
      delivered: style.green,
      skipped: style.dim,
      failed: style.red,
      rejected: style.red,
    };
    const count = `${messages} ${messages === 1 ? 'message' : 'messages'}`;
    const outcome = colour[result.result](result.result.padEnd(9));
    const what = harmlessLine(`${event_type} ${project} ${version} [${deploy_id}]`);
    const end =
      result.result === 'delivered'
        ? count
        : (result.reason ?? harmlessLine(result.description ?? ''));
    return `${outcome}  ${(result.channel ?? '-').padEnd(8)}  ${what}, ${end}\n`;
  },
});

function millisecondsOf(text: string): number {
  const seconds = /^\d{1,6}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= WAIT_MAX) return seconds * 1000;
  throw usage(
    `invalid value '${text}' for '--wait <SECONDS>': it is not a number of seconds from 0 to ${WAIT_MAX}`,
  );
}
