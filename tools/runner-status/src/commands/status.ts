import type { AppSummary } from '@runner/common/apps/summary';
import { command } from '@runner/common/cli/command';
import { statusText } from '../status-text.ts';

/** Width of what is not written to a terminal. */
const WIDTH = 80;

export const status = command({
  name: '',
  about: 'Show one app in detail',
  details:
    'What runs of each instance, since when and from which commit; the last failure; who holds the lock;\n' +
    'and what decides about the next automatic deploy.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  async run(context) {
    const { statusOf } = await import('../state.ts');
    return { value: await statusOf(context.paths, context.args.app) };
  },
  human: (app: AppSummary, style, { io }) =>
    statusText(app, style, io.stdout.isTTY ? io.stdout.columns : WIDTH),
});
