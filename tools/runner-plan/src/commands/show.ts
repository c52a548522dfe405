import { readPlan } from '@runner/common/apps/plans';
import { command } from '@runner/common/cli/command';
import { planText, viewOf } from '../text.ts';

export const show = command({
  name: 'show',
  about: 'Show a plan',
  positionals: { id: { required: true, about: 'Id of the plan', listedBy: 'runner plan list' } },
  options: { text: { about: 'Print exactly the bytes that an approval is signed over' } },
  examples: [
    'runner plan show p-1a2b3c4d --text | ssh-keygen -Y sign -n runner-approval -f KEY > approval.sig',
  ],
  async run({ io, paths, args, options }) {
    const stored = readPlan(paths, args.id);
    if (!options.text) return { value: await viewOf({ io, paths }, stored) };
    io.stdout.write(stored.text);
    return {};
  },
  human: planText,
});
