/** The units of an app: their names, what systemd says of them, and the processes in their control groups. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Restarts } from '@runner/common/apps/instance-summary';
import { SLOTS, type SlotName } from '@runner/common/apps/slots';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { StartOf } from '@runner/common/deploy-file/start';
import { orElse } from '@runner/common/foundation/attempt';
import { ask } from './ask.ts';
import type { InstanceStatus, Target } from './driver.ts';

export type Systemd = StartOf<'systemd'>;
/** What a question to systemd needs of a target. */
export type UnitTarget = Pick<Target<Systemd>, 'start' | 'instance' | 'slot' | 'outerEnv'>;

/**
 * `app@.service` and `app@%i.service` of the instance `web` are `app@web.service`; of its slot b
 * `app@web-b.service`, for which `%I` is `web/b`.
 */
export function unitOf(unit: string, instance: string, slot?: SlotName): string {
  const name = slot === undefined ? instance : escapePath(`${instance}/${slot}`);
  return unit.replaceAll('%i', name).replace('@.', `@${name}.`);
}

export function ownUnit({ start, instance, slot }: Omit<UnitTarget, 'outerEnv'>): string {
  return unitOf(start.unit, instance.name, slot);
}

export function unitsOf(unit: string, { name, traffic }: Pick<Instance, 'name' | 'traffic'>) {
  return traffic ? SLOTS.map((slot) => unitOf(unit, name, slot)) : [unitOf(unit, name)];
}

/** What is started: all instances of a `.deploy.yml`, or one. */
export type Startable = Pick<DeployFile, 'start' | 'instances'>;

/** The units of instances; none unless systemd starts them. */
export function unitsFor({ start, instances }: Startable): string[] {
  return start.type === 'systemd' ? instances.flatMap((each) => unitsOf(start.unit, each)) : [];
}

/** As systemd-escape does it. */
function escapePath(path: string): string {
  const hex = (character: string) => `\\x${character.charCodeAt(0).toString(16)}`;
  return path
    .replace(/[^A-Za-z0-9:_./]/g, hex)
    .replace(/^\./, hex)
    .replaceAll('/', '-');
}

export function manager(start: Pick<Systemd, 'user'>): string[] {
  return start.user ? ['--user'] : [];
}

/** Asks systemd about a unit. Blocks. */
export function askUnit(
  start: Pick<Systemd, 'user'>,
  unit: string,
  env: Readonly<Record<string, string>>,
  ...args: string[]
): ReturnType<typeof ask> {
  return ask('systemctl', [...manager(start), ...args, '--', unit], { env });
}

/** What systemd says of the server, such as `stopping`; '' if its bus gives no answer, undefined without systemd. */
export function systemState(env: Readonly<Record<string, string>>): string | undefined {
  const { status, stdout } = ask('systemctl', ['is-system-running'], { env });
  return status === null ? undefined : stdout.trim();
}

/** What systemd's client answers about the unit of a target. */
export function answerAbout(target: UnitTarget, ...args: string[]): string {
  return askUnit(target.start, ownUnit(target), target.outerEnv, ...args).stdout;
}

/** `active`: `active`, `activating`, `failed`, `inactive`, …; empty without systemd. */
export function stateOf(target: UnitTarget) {
  const active = answerAbout(target, 'is-active').trim();
  const properties = 'SubState,NRestarts,Type,Result';
  const value = shownOf(answerAbout(target, 'show', '--property', properties));
  const restarts = Number(value('NRestarts'));
  return { active, sub: value('SubState'), restarts, isDone: isDone(active, value) };
}

/** Whether it is a job that has succeeded, and need not run. */
function isDone(active: string, value: Properties): boolean {
  return active === 'inactive' && value('Type') === 'oneshot' && value('Result') === 'success';
}

/** How often systemd has restarted the unit automatically. */
export function restartsOf(target: UnitTarget): number {
  return Number(shownOf(answerAbout(target, 'show', '--property', 'NRestarts'))('NRestarts')) || 0;
}

const ALIVE = ['active', 'activating', 'reloading', 'refreshing'];

/** Why the unit does not run; undefined while it does. */
export function whyDead(now: ReturnType<typeof stateOf>, before: Pick<typeof now, 'restarts'>) {
  // With Restart= a crashing program is `activating` between its lives.
  if (now.sub === 'auto-restart' || now.restarts > before.restarts) return 'crashed';
  return ALIVE.includes(now.active) || now.isDone ? undefined : `is ${now.active || 'unknown'}`;
}

/** A unit's processes, the main process first. */
export function processesIn(value: Properties): number[] {
  return [Number(value('MainPID')), ...membersOf(value('ControlGroup'))].filter(isPid);
}

type Properties = (name: string) => string;

/** The properties of a unit in the output of `systemctl show`, which separates units by empty lines. */
export function shownOf(stdout: string, at = 0): Properties {
  const shown = stdout.trim().split(/\n{2,}/)[at] ?? '';
  return (name) => new RegExp(`^${name}=(.*)$`, 'm').exec(shown)?.[1] ?? '';
}

export const SHOWN = 'ActiveState,SubState,Type,Result,MainPID,ControlGroup,NRestarts';

/** The automatic restarts of a unit, and whether its last end was for want of memory. */
export function restartsIn(value: Properties): Restarts {
  return { count: Number(value('NRestarts')) || 0, oom: value('Result') === 'oom-kill' };
}

/** Whether a unit runs. */
export function statusIn(value: Properties): InstanceStatus {
  const active = value('ActiveState');
  if (active === '' || isDone(active, value)) return 'unknown';
  return ALIVE.includes(active) && value('SubState') !== 'auto-restart' ? 'running' : 'stopped';
}

/** Pids of a control group; empty if it cannot be read, as with cgroups of version 1. */
function membersOf(group: string): number[] {
  // The topmost one is no supervisor's.
  if (group === '' || group === '/') return [];
  return linesOf(join('/sys/fs/cgroup', group, 'cgroup.procs'))
    .map(Number)
    .filter(isPid);
}

/** The process and all others of its control group. */
export function processesBeside(pid: number): number[] {
  const [group] = linesOf(`/proc/${pid}/cgroup`).filter((line) => line.startsWith('0::'));
  return [pid, ...membersOf(group?.slice('0::'.length) ?? '')];
}

/** Whether the supervisor named a process: it prints 0 when nothing runs. */
export function isPid(pid: number): boolean {
  return Number.isInteger(pid) && pid > 0;
}

function linesOf(path: string): string[] {
  return orElse(() => readFileSync(path, 'latin1').split('\n'), []);
}
