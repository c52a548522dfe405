import { requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { guardsOf } from '@runner/common/cli/guarded';
import { guardFailure } from '@runner/common/guards/check';
import { explain } from '../explain.ts';
import { explanationText } from '../text.ts';

export const why = command({
  about: 'Explain why an app is not well: cause, change, what runs, what to type',
  details:
    'Shows the newest failure of a deploy with the lines that say why, what changed since the last version\n' +
    'that worked (* marks a file that the cause names), why the app is down, blocked, on hold or waiting, what\n' +
    'runs now, and one or two commands. A failure after which a version was deployed is one line at the end.\n' +
    'Without a failure it says so, with exit status 0. The guards are those of runner debug last-error.',
  positionals: { app: { required: true, about: 'Name of the app', listedBy: 'runner list' } },
  examples: ['runner why shop'],
  safeInForeignRoot: true,
  async run(context) {
    const { paths, args, note } = context;
    const { app } = requireApp(paths, args.app);
    const tripped = guardsOf(context, app);
    if (tripped.length > 0) throw guardFailure(tripped, note);
    return { value: await explain(context, app) };
  },
  human: explanationText,
});
