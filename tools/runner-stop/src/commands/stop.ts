import { requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import type { Style } from '@runner/common/cli/output';
import { harmlessLine } from '@runner/common/text/harmless';
import { leftEnabled } from '@runner/deploy/instances/left-enabled';
import { type StoppedBefore, stopAllBeforeTraffic } from '@runner/deploy/instances/stop';
import { LIFE_EXITS, LIFE_OPTIONS, runLife, stopText } from '@runner/deploy/life';
import type { LifeOutcome } from '@runner/deploy/lifecycle/verbs';

export const stop = command({
  about: 'Stop an app',
  details:
    'The app stays stopped: fetch --deploy, doctor and the next boot leave it alone until runner start or\n' +
    'runner deploy. --before-traffic stops only the version that ran before the first deploy with traffic:\n' +
    'use it once the proxy sends requests to the slots.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    ...LIFE_OPTIONS,
    reason: { placeholder: 'TEXT', about: 'Reason, for status and the audit log' },
    'before-traffic': {
      about: 'Stop only the version outside the slots',
      conflicts: ['instance', 'reason', 'wait'],
    },
  },
  exits: LIFE_EXITS,
  examples: [
    'runner stop shop --reason "moving the database"',
    'runner stop shop --before-traffic',
  ],
  async run(context) {
    const { io, paths, args, options } = context;
    if (!options['before-traffic']) return runLife(context, 'stop', args.app, options.reason);
    const value = await stopAllBeforeTraffic(io, paths, args.app);
    const left = leftEnabled({ io, paths }, requireApp(paths, args.app));
    for (const { words, fix } of left) context.note(`${words}: ${fix}`);
    return { value };
  },
  human: (value: LifeOutcome | StoppedBefore, style) =>
    'duration_ms' in value ? stopText(value, style) : beforeText(value, style),
});

function beforeText({ app, result, instances }: StoppedBefore, style: Style): string {
  const name = style.bold(harmlessLine(app));
  if (result === 'nothing_running') return `Nothing of ${name} runs outside its slots.\n`;
  const all = instances.map(
    ({ instance, version }) => `${harmlessLine(version)} of ${harmlessLine(instance)}`,
  );
  return `${style.green('Stopped')} ${all.join(', ')}, which ${name} ran before traffic\n`;
}
