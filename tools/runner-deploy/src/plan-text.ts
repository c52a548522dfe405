/** A plan for people. */

import { signerWords } from '@runner/common/apps/signed';
import { fields, type Style } from '@runner/common/cli/output';
import { harmlessLine } from '@runner/common/text/harmless';
import { utcText } from '@runner/common/text/time';
import type { DeployPlan } from '@runner/deploy/pipeline/check';

/** The plan in lines; foreign text in it is harmless. */
export function planText(plan: DeployPlan, style: Style): string {
  const mib = (bytes: number) => `${Math.ceil(bytes / 1_048_576)} MiB`;
  const rows: [string, string][] = [
    ['source:', `${plan.repo}, ${plan.ref}, commit ${plan.commit.slice(0, 12)}`],
    ['token:', plan.token === 'accepted' ? 'accepted by the code host' : 'none'],
    ...(plan.signed_by ? [['signed by:', signerWords(plan.signed_by)] as [string, string]] : []),
    ['file:', fileWords(plan)],
    ...plan.instances.map(({ instance, domain, env, current }): [string, string] => {
      const parts = [
        `${current ?? 'nothing'} is active`,
        domain ?? '',
        env.length > 0 ? `env ${env.join(' ')}` : '',
      ];
      return [`${instance}:`, parts.filter(Boolean).join(', ')];
    }),
    ...plan.submodules.map(({ path, repo, commit }): [string, string] => [
      'submodule:',
      `${path} from ${repo}, commit ${commit.slice(0, 12)}`,
    ]),
    ['notify:', plan.notify],
    ['keep:', `${plan.keep} releases`],
    ['space:', `${mib(plan.free_bytes)} free, ${mib(plan.needed_bytes)} needed`],
    ...plan.jobs.map(({ job, when, next }): [string, string] => [
      'job:',
      [`${job}: ${when}`, ...next.map(utcText)].join(', '),
    ]),
    ...plan.steps.map((step, index): [string, string] => [index === 0 ? 'steps:' : '', step]),
    ...plan.warnings.map((each): [string, string] => ['warning:', each]),
  ];
  const shown = rows.map(([label, value]) => [harmlessLine(label), harmlessLine(value)] as const);
  const name = style.bold(`${harmlessLine(plan.app)} ${harmlessLine(plan.version)}`);
  const verdict =
    plan.result === 'valid'
      ? style.green('Valid: nothing was deployed.')
      : `${style.red('Not ready:')}\n${plan.problems.map((each) => `  ${harmlessLine(each)}`).join('\n')}`;
  return `${name}\n${fields(shown)}${verdict}\n`;
}

function fileWords({ deploy_file_from: from }: DeployPlan): string {
  if (from === 'operator') return "the operator's .deploy.yml, of runner edit --deploy-file";
  return from === 'commit' ? '.deploy.yml' : 'no .deploy.yml: checkout and switch';
}
