/** The steps of a deploy in words, without running any. */
import type { DeployFile, Health, Instance } from '@runner/common/deploy-file/read';
import { expand } from '@runner/common/deploy-file/variables';
import { unitOf } from '../instances/drivers/systemd.ts';

/** In the order they run. */
export function stepsOf(file: DeployFile, version: string): string[] {
  const { hooks, build, instances } = file;
  return [
    `export ${version}`,
    ...hooks.pre_build.map((command) => `pre_build: ${command}`),
    ...build.run.map((command) => `build: ${command}`),
    ...hooks.post_build.map((command) => `post_build: ${command}`),
    ...instances.flatMap((instance) => [
      ...hooks.pre_switch.map((command) => `pre_switch: ${command}`),
      `switch ${instance.name}`,
      ...startStep(file, instance),
      ...(file.health ? [`health of ${instance.name}: ${healthWords(file.health, instance)}`] : []),
    ]),
    ...instances.flatMap(() => hooks.post_deploy.map((command) => `post_deploy: ${command}`)),
  ];
}

function startStep({ start }: DeployFile, { name }: Instance): string[] {
  if (start.type === 'none') return [];
  const what = (): string => {
    if (start.type === 'systemd')
      return `${start.reload ? 'reload or restart' : 'restart'} ${unitOf(start.unit, name)}`;
    if (start.type === 'compose') return start.file;
    return start.type === 'pm2' && 'config' in start ? start.config : start.run;
  };
  return [`start ${name}: ${start.type}, ${what()}`];
}

function healthWords(health: Health, instance: Instance): string {
  const { kind, target, interval, timeout, within } = health;
  const shown = kind === 'cmd' ? target : expand(target, instance.env);
  const [every, each, all] = [interval, timeout, within].map((time) => `${time / 1000} s`);
  return `${shown}, every ${every}, ${each} each, within ${all}`;
}
