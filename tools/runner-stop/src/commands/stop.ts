import { command } from '@runner/common/cli/command';
import { usage } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { StoppedBefore } from '@runner/deploy/instances/stop-before';

export const stop = command({
  name: '',
  about: 'Stop what an app ran before traffic',
  details:
    'The first deploy with traffic leaves the version before running, because the proxy still sends\n' +
    'requests to its port. Once the proxy has moved to the slots, this stops it. When nothing of it\n' +
    'runs, the status is 0.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    'before-traffic': { kind: 'flag', about: 'Stop the version that runs outside the slots' },
  },
  exits: [[75, 'A deploy of the app is running']],
  examples: ['runner stop shop --before-traffic'],
  async run({ io, paths, args, options }) {
    if (!options['before-traffic'])
      throw usage('the following required arguments were not provided: --before-traffic');
    const { stopAllBeforeTraffic } = await import('@runner/deploy/instances/stop-before');
    return { value: await stopAllBeforeTraffic(io, paths, args.app) };
  },
  human({ app, result, instances }: StoppedBefore, style) {
    const name = style.bold(harmlessLine(app));
    if (result === 'nothing_running') return `Nothing of ${name} runs outside its slots.\n`;
    const all = instances.map(
      ({ instance, version }) => `${harmlessLine(version)} of ${harmlessLine(instance)}`,
    );
    return `${style.green('Stopped')} ${all.join(', ')}, which ${name} ran before traffic\n`;
  },
});
