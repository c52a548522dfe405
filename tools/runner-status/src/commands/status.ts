import { retriesFor } from '@runner/common/apps/retries';
import { requireApp } from '@runner/common/apps/store';
import { type AppSummary, summaryOf } from '@runner/common/apps/summary';
import { command } from '@runner/common/cli/command';
import { statusText } from '../status-text.ts';

/** Width of output that is not a terminal. */
const WIDTH = 80;

export const status = command({
  name: '',
  about: 'Show one app in detail',
  details:
    'What runs of each instance, since when and from which commit; the last failure; which process\n' +
    'holds the lock; and what decides about the next automatic deploy.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  async run({ paths, args }) {
    const app = requireApp(paths, args.app);
    return { value: summaryOf(paths, app, await retriesFor(paths, [app])) };
  },
  human: (app: AppSummary, style, { io }) =>
    statusText(app, style, io.stdout.isTTY ? io.stdout.columns : WIDTH, io.now()),
});
