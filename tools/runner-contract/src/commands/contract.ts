import { command } from '@runner/common/cli/command';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { waitOf } from '@runner/deploy/approval/options';
import { LIFE_EXITS, LIFE_OPTIONS } from '@runner/deploy/life';
import type { ContractOutcome } from '@runner/deploy/lifecycle/contract';
import { progressFor } from '@runner/deploy/report/progress';

const { plan, emergency, wait } = LIFE_OPTIONS;

export const contract = command({
  about: 'Remove from the database what only older versions needed',
  details:
    'Runs migrate.contract of the oldest release that is kept, after a backup, as a deploy does once no\n' +
    'older version is left. One that failed runs again only so. Nothing is restarted.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: { plan, emergency, wait },
  exits: LIFE_EXITS,
  examples: ['runner contract shop'],
  async run(context) {
    const { io, paths, args, options } = context;
    const wait = waitOf(options.wait);
    const { contractNow } = await import('@runner/deploy/lifecycle/contract');
    using progress = progressFor(
      { ...context, options: { events: false }, format: 'human' },
      false,
    );
    const { reporter } = progress;
    const choice = { plan: options.plan, emergency: options.emergency };
    const value = await contractNow({
      io,
      paths,
      app: args.app,
      reporter,
      wait,
      ...choice,
    });
    return { value, status: value.result === 'failed' ? 1 : 0 };
  },
  human({ app, result, version, restore, error }: ContractOutcome, style) {
    const name = style.bold(harmlessLine(app));
    const why = harmless(error ?? '');
    if (result === 'unchanged') return `Nothing to do for ${name}: ${why}\n`;
    if (result === 'failed') return `${style.red('Failed:')} ${name}: ${why}\n`;
    const undo = restore === null ? '' : `To restore what was before: ${harmlessLine(restore)}\n`;
    return `${style.green('Done:')} contract of ${harmlessLine(version ?? '')} of ${name}\n${undo}`;
  },
});
