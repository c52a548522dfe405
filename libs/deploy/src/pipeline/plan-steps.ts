/** The steps of a deploy in words, without running any. */
import type { Health } from '@runner/common/deploy-file/health';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { expand } from '@runner/common/deploy-file/variables';
import { sizeText } from '@runner/common/text/size';
import { durationText } from '@runner/common/text/time';
import { unitsOf } from '../instances/drivers/unit-state.ts';
import { startsBeside } from '../instances/place.ts';
import type { CanaryPlan } from '../instances/shares.ts';

/** What is known of the server. */
interface PlannedOn {
  /** The memory in bytes that the previous version has now. */
  readonly warm: number | undefined;
  readonly canary: CanaryPlan | undefined;
}

/** In the order they run. */
export function stepsOf(file: DeployFile, version: string, { warm, canary }: PlannedOn): string[] {
  const { hooks, build, instances } = file;
  const beside = instances.filter(startsBeside);
  const others = instances.filter((instance) => !startsBeside(instance));
  return [
    `export ${version}`,
    ...hooks.pre_build.map((command) => `pre_build: ${command}`),
    ...build.run.map((command) => `build: ${command}`),
    ...hooks.post_build.map((command) => `post_build: ${command}`),
    ...migrationStep(file),
    ...beside.flatMap((instance) => [
      ...hooks.pre_switch.map((command) => `pre_switch: ${command}`),
      ...upSteps(file, instance),
    ]),
    ...canaryStep(canary),
    ...beside.map(({ name, traffic }) => {
      const mover = traffic?.run === undefined ? '' : `: ${traffic.run}`;
      return `switch ${name} to the other slot${mover}`;
    }),
    ...others.flatMap((instance) => [
      ...hooks.pre_switch.map((command) => `pre_switch: ${command}`),
      `switch ${instance.name}`,
      ...upSteps(file, instance),
    ]),
    ...instances.flatMap(() => hooks.post_deploy.map((command) => `post_deploy: ${command}`)),
    ...watchStep(file, warm),
    ...beside.map(
      ({ name, traffic }) => `drain ${name}: at most ${(traffic?.drain ?? 0) / 1000} s`,
    ),
  ];
}

/** Empty if `.deploy.yml` asks for none. */
export function canaryStep(canary: CanaryPlan | null | undefined): string[] {
  if (!canary) return [];
  const { shares, for_ms: time, instances, note } = canary;
  const each = shares.map((share) => `${share} %`).join(', ');
  if (instances.length === 0) return [`no canary (${each}): ${note}`];
  const what = `canary: ${each} of the requests to ${instances.join(', ')}, each for ${durationText(time)}`;
  return [`${what}: withdrawn if it is bad${note === null ? '' : `; ${note}`}`];
}

function migrationStep({ migrate }: DeployFile): string[] {
  if (!migrate) return [];
  const { run, database, isRehearsed, isFull, backup } = migrate;
  const first = isRehearsed ? `, first on a ${isFull ? 'full copy' : 'copy of its schema'}` : '';
  const saved =
    backup === undefined
      ? [`no backup of the database of ${database}: there will be no line that restores it`]
      : [`back up the database of ${database}, if it changes: ${backup}`];
  return [...saved, `migrate the database of ${database}${first}: ${run}`];
}

/** With it, what drains runs on until its end. */
function watchStep({ watch, instances }: DeployFile, warm: number | undefined): string[] {
  if (!watch) return [];
  const isWarm = instances.some(startsBeside);
  const size = warm === undefined ? 'memory of its own' : `${sizeText(warm)} of memory`;
  const kept = isWarm ? `; the previous version runs until then, in ${size}` : '';
  const bad = watch.policy === 'rollback' ? 'rolled back' : 'reported';
  return [`watch for ${durationText(watch.for)}: ${bad} if it is bad${kept}`];
}

function upSteps(file: DeployFile, instance: Instance): string[] {
  const { health } = file;
  const last = health ? [`health of ${instance.name}: ${healthWords(health, instance)}`] : [];
  return [...startStep(file, instance), ...last];
}

function startStep({ start }: DeployFile, instance: Instance): string[] {
  const { name } = instance;
  if (start.type === 'none') return [];
  const what = (): string => {
    if (start.type === 'systemd')
      return `${start.reload ? 'reload or restart' : 'restart'} ${unitsOf(start.unit, instance).join(' or ')}`;
    if (start.type === 'compose') return start.file;
    return start.type === 'pm2' && 'config' in start ? start.config : start.run;
  };
  return [`start ${name}: ${start.type}, ${what()}`];
}

function healthWords(health: Health, instance: Instance): string {
  const { kind, target, interval, timeout, within } = health;
  const { traffic } = instance;
  // PORT is known when the deploy chooses a slot.
  const env = traffic
    ? { PORT: traffic.ports?.join('|') ?? 'app.sock', ...instance.env }
    : instance.env;
  const shown = kind === 'cmd' ? target : expand(target, env);
  const [every, each, all] = [interval, timeout, within].map((time) => `${time / 1000} s`);
  return `${shown}, every ${every}, ${each} each, within ${all}`;
}
