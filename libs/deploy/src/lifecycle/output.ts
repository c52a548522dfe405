/** Where an app prints to: files, or a program that shows it. */
import { SLOTS, slotPaths } from '@runner/common/apps/slots';
import type { StartOf } from '@runner/common/deploy-file/start';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { composeArgs } from '../instances/drivers/compose.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { newestOf } from '../instances/drivers/journal.ts';
import { pm2Logs } from '../instances/drivers/pm2.ts';
import { unitOf, unitsOf } from '../instances/drivers/unit-state.ts';
import type { Confinement, ProgramCall } from '../sandbox/sandbox.ts';
import { outputFile, processFiles } from './followed.ts';

/** All that came since. */
const LINES_MAX = 1_000_000;

/** How much to show. */
export interface Extent {
  readonly lines: number;
  readonly follow: boolean;
  /** ISO 8601 UTC. */
  readonly since: string | undefined;
  /** ISO 8601 UTC; only without `follow`. */
  readonly until: string | undefined;
  /** Whether each line begins with its time, if the supervisor knows it. */
  readonly timestamps: boolean;
  /** Only what runs in the slot of the target, or only what runs in the other one. */
  readonly slots?: 'own' | 'others';
}

/** Files that grow, or a program whose output it is. */
export type Output = { readonly files: readonly string[] } | OutputProgram;

export interface OutputProgram extends ProgramCall {
  readonly confinement?: Confinement | undefined;
  /** Whether there are older lines since the wanted time, beyond the wanted number. */
  readonly isCut?: boolean;
  /** How to continue from a time in ISO 8601, if it ends while it is followed; absent: that is the end. */
  again?(since: string): OutputProgram;
}

/** Where an instance prints to. Throws `log_not_found`. */
export function outputOf(paths: Paths, target: Target, wanted: Extent): Output[] {
  const { start, app } = target;
  if (start.type === 'systemd') return [journal(target, start, wanted)];
  if (start.type === 'compose')
    return inSlots(paths, target, wanted).map((each) => containers(each, wanted));
  if (start.type === 'command') return [ownCommand(target, wanted)];
  if (start.type === 'pm2')
    return [{ files: [...new Set(inSlots(paths, target, wanted).flatMap(pm2Logs))] }];
  if (start.type === 'none') throw unknownOutput(target);
  const own = paths.app(app).instance(target.instance.name);
  const file = outputFile(own, target.slot);
  if (wanted.slots === 'own') return [{ files: [file] }];
  const files = processFiles(own, wanted.follow);
  return [{ files: wanted.slots ? files.filter((each) => each !== file) : files }];
}

/** The places in which an instance may run: both slots, if it has them. */
function inSlots(paths: Paths, target: Target, { slots }: Extent): Target[] {
  const own = paths.app(target.app).instance(target.instance.name);
  if (target.slot === undefined || slots === 'own') return [target];
  const wanted = SLOTS.filter((slot) => slots === undefined || slot !== target.slot);
  return wanted.map((slot) => ({ ...target, slot, paths: slotPaths(own, slot) }));
}

function journal(
  { instance, slot, outerEnv: env }: Target,
  start: StartOf<'systemd'>,
  { lines, follow, since, until, timestamps, slots }: Extent,
): OutputProgram {
  const output = timestamps ? 'short-iso' : 'cat';
  const own = unitOf(start.unit, instance.name, slot);
  const isWanted = (unit: string) => slots === undefined || (unit === own) === (slots === 'own');
  const units = unitsOf(start.unit, instance)
    .filter(isWanted)
    .flatMap((unit) => [start.user ? '--user-unit' : '--unit', unit]);
  const end = until === undefined ? [] : ['--until', `@${Date.parse(until) / 1000}`];
  const which = [...units, ...end];
  const more = follow ? ['--follow'] : [];
  const shown = { file: 'journalctl', cwd: '/', env };
  if (since === undefined) {
    const how = ['--lines', String(lines), '--no-pager', '--quiet', '--output', output];
    return { ...shown, args: [...how, ...more, ...which] };
  }
  const { args, isCut } = newestOf({
    which,
    since: Date.parse(since) / 1000,
    lines,
    output,
    env,
  });
  return { ...shown, args: [...args, ...more], isCut };
}

/** `docker compose logs -f` ends with the containers. */
function containers(target: Target, wanted: Extent): OutputProgram {
  const { lines, follow, since, until, timestamps } = wanted;
  const { release: cwd, env, confine } = target;
  const from = since ? ['--since', since] : [];
  const some = ['--tail', String(lines), ...from, ...(follow ? ['--follow'] : [])];
  if (until !== undefined) some.push('--until', until);
  if (timestamps) some.push('--timestamps');
  const project = composeArgs(target as Target<StartOf<'compose'>>);
  const args = [...project, 'logs', '--no-color', '--no-log-prefix', ...some];
  const docker = { file: 'docker', args };
  return {
    ...docker,
    cwd,
    env,
    confinement: confine('docker'),
    again: (time) => containers(target, { ...wanted, lines: LINES_MAX, since: time }),
  };
}

/** `logs` of the `.deploy.yml`, confined as a hook is. */
function ownCommand(target: Target, { lines, follow, since, until }: Extent): OutputProgram {
  const { release: cwd, file, confine } = target;
  if (file.logs === undefined) throw unknownOutput(target);
  const shell = { file: '/bin/sh', args: ['-c', file.logs] };
  const env = {
    ...target.env,
    RUNNER_LINES: String(lines),
    ...(follow && { RUNNER_FOLLOW: '1' }),
    ...(since !== undefined && { RUNNER_SINCE: since }),
    ...(until !== undefined && { RUNNER_UNTIL: until }),
  };
  return { ...shell, cwd, env, confinement: confine('hook') };
}

function unknownOutput({ app, start }: Target): Failure {
  const how =
    start.type === 'command' ? 'add the key logs to its .deploy.yml' : 'look in its supervisor';
  return new Failure(
    'log_not_found',
    `runner does not know where '${app}' (start.type ${start.type}) prints to: ${how}`,
  );
}
