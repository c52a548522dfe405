import { listPlans } from '@runner/common/apps/plans';
import { requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { table } from '@runner/common/cli/output';
import { namesIn } from '@runner/common/files/read';
import { type PlanView, stateWords, viewOf } from '../text.ts';

export const list = command({
  name: 'list',
  about: 'Show the plans: what waits for whom, and what became of the others',
  details: 'Plans that ended are kept for a week.',
  positionals: { app: { about: 'Only of this app [default: all]' } },
  async run({ io, paths, args }) {
    const app = args.app === undefined ? undefined : requireApp(paths, args.app).app;
    // Who may not read them is not told that there are none.
    namesIn(paths.plansDir);
    const plans: PlanView[] = [];
    for (const each of listPlans(paths, app)) plans.push(await viewOf({ io, paths }, each));
    return { value: { plans } };
  },
  human({ plans }: { plans: PlanView[] }, style, { io }) {
    if (plans.length === 0) return 'No plans. Make one with: runner plan deploy <app>\n';
    const rows = plans.map((plan) => {
      const { id, verb, app, version, by } = plan;
      return [id, verb, app, version, by, stateWords(plan, io.now())];
    });
    return table(['PLAN', 'VERB', 'APP', 'VERSION', 'BY', 'STATE'], rows, style, io);
  },
});
