import { type TrafficHold, trafficHoldWords } from '@runner/common/apps/operator';
import { requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { readGiven } from '@runner/common/files/read';
import { invalidValue } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { durationOf } from '@runner/common/text/time';
import { carryHold, PAGE_MAX } from '@runner/deploy/hold/holder';
import { endHold, holdTraffic } from '@runner/deploy/hold/traffic';

/** What the command prints. */
interface HoldResult {
  app: string;
  result: 'held' | 'changed' | 'released' | 'unchanged';
  hold: TrafficHold | null;
}

/** Longest hold: a forgotten one must end. */
const LONGEST = 86_400_000;

export const holdTrafficCommand = command({
  needsRoot: true,
  about: 'Let the requests of an app wait, or answer them with a page',
  details:
    'For apps with `traffic: socket`: through the link that the proxy follows, requests reach a process of\n' +
    'runner instead of the app, which runs on. They wait until the hold ends and then reach the app, as long\n' +
    "as the proxy's own timeout allows; with --page they get status 503 and the page. Deploys, rollbacks and\n" +
    'restarts go on meanwhile. While requests are held, the command again changes how and until when.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    for: { placeholder: 'TIME', about: 'End after 30s, 10m, 2h; at most 24h [default: 5m]' },
    page: {
      placeholder: 'FILE',
      about: 'Answer with this file, HTML or plain text',
      conflicts: ['end'],
    },
    end: { about: 'Let the requests through now', conflicts: ['for'] },
    carry: { about: 'Do the holding: the command itself starts this in the background' },
  },
  exits: [[75, 'Another command is using the app']],
  examples: [
    'runner hold-traffic shop --for 30s',
    'runner hold-traffic shop --for 2h --page sorry.html',
    'runner hold-traffic shop --end',
  ],
  async run({ io, paths, args, options }): Promise<{ value: HoldResult }> {
    const { app } = args;
    const note = (text: string) => void io.stderr.write(`${harmlessLine(text)}\n`);
    const place = { io, paths, app, note };
    const { traffic_hold: known } = requireApp(paths, app);
    if (options.carry) {
      const result = (await carryHold(place)) ? 'released' : 'unchanged';
      return { value: { app, result, hold: null } };
    }
    if (options.end) {
      if (known) endHold(place, known, 'an operator ended it');
      return { value: { app, result: known ? 'released' : 'unchanged', hold: null } };
    }
    const length = durationOf(options.for ?? '5m');
    if (!length || length > LONGEST)
      throw invalidValue(
        options.for ?? '',
        '--for <TIME>',
        'it must be a time such as 30s, 10m, 2h, at most 24h',
      );
    const page =
      options.page === undefined ? undefined : readGiven(io, options.page, PAGE_MAX, 'the page');
    const until = new Date(io.now().getTime() + length);
    const hold = await holdTraffic({ ...place, until, page });
    return { value: { app, result: known ? 'changed' : 'held', hold } };
  },
  human: ({ app, result, hold }: HoldResult) => {
    const name = harmlessLine(app);
    if (hold) return `${name}: ${harmlessLine(trafficHoldWords(hold))}\n`;
    return result === 'released'
      ? `${name}: requests reach the app\n`
      : `${name}: no request was held\n`;
  },
});
