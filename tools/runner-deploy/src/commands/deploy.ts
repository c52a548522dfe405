import { command } from '@runner/common/cli/command';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import type { Plan } from '@runner/deploy/pipeline/check';
import type { Outcome } from '@runner/deploy/pipeline/outcome';
import { planText } from '../plan-text.ts';

export const deploy = command({
  name: '',
  about: 'Deploy an app from git',
  details:
    "Fetches the head of the app's branch, builds it in a folder of its own, switches to it, starts it\n" +
    'and asks whether it is healthy. When that fails the version before is brought back. What is done\n' +
    'is described by .deploy.yml of the commit. With --json each step is a line of JSON, and the last\n' +
    'line is the result: deployed, failed or rolled_back. When --ref or --instance leave something\n' +
    'at another commit than the head of the branch, fetch --deploy leaves that head alone until the\n' +
    'next push.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    ref: {
      kind: 'value',
      placeholder: 'REF',
      about: "Branch, tag or commit to deploy [default: the app's branch]",
    },
    instance: { kind: 'value', placeholder: 'NAME', about: 'Only this instance [default: all]' },
    check: {
      kind: 'flag',
      about: 'Check .deploy.yml and everything else that a deploy needs, and deploy nothing',
    },
    'no-notify': {
      kind: 'flag',
      about: 'Tell nobody about this deploy; the audit log is written all the same',
    },
    verbose: { kind: 'flag', short: 'v', about: "Show the steps' output as it comes" },
  },
  exits: [
    [3, 'The deploy failed, and so did its rollback'],
    [75, 'Another deploy of the app is running'],
    [130, 'Interrupted (Ctrl-C); what was switched was rolled back'],
  ],
  examples: ['runner deploy shop', 'runner deploy shop --ref v1.4.2', 'runner deploy shop --check'],
  async run(context) {
    if (context.options.check) {
      const { runCheck } = await import('../checking.ts');
      return runCheck(context);
    }
    const { runDeploy } = await import('../deploying.ts');
    return runDeploy(context);
  },
  human(outcome: Outcome | Plan, style) {
    if ('steps' in outcome) return planText(outcome, style);
    const { app, version, result, active_version: active, duration_ms: took } = outcome;
    const name = style.bold(`${harmlessLine(app)} ${harmlessLine(version)}`);
    if (result === 'deployed') {
      return `${style.green('Deployed')} ${name} in ${(took / 1000).toFixed(1)} s [${outcome.deploy_id}]\n`;
    }
    const now = active === null ? 'Nothing is active now.' : `${harmlessLine(active)} is active.`;
    const how = outcome.rollback_error
      ? `The rollback failed too: ${harmless(outcome.rollback_error)}. What runs now is uncertain: look at it.`
      : result === 'rolled_back'
        ? `Rolled back. ${now}`
        : now;
    return `${style.red('Failed')} ${name} at ${outcome.stage} [${outcome.deploy_id}]. ${how}\n`;
  },
});
