/** Which instances run: asks the supervisors of all apps at once, for a limited time. */
import { basename } from 'node:path';
import type { View } from '@runner/common/apps/instance-summary';
import { liveRun, liveSlot } from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import type { Health } from '@runner/common/deploy-file/health';
import type { Instance } from '@runner/common/deploy-file/instance';
import { expand } from '@runner/common/deploy-file/variables';
import { isRunning } from '@runner/common/files/process';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Io } from '@runner/common/foundation/io';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { stepEnvironment } from '../run/environment.ts';
import type { Profile } from '../sandbox/mounts.ts';
import { openSandboxAnyway } from '../sandbox/sandbox.ts';
import { askAll } from './drivers/ask.ts';
import { driverFor } from './drivers/choose.ts';
import type { Asked, InstanceStatus, SupervisorAnswer } from './drivers/driver.ts';
import { askTcp } from './health.ts';
import { fileOfRelease } from './kept-file.ts';
import { placeIn } from './place.ts';
import { processesOf } from './stranger.ts';

/** For all answers together, in milliseconds: `list` should not wait for a supervisor that hangs. */
const PATIENCE = 2_000;

/** An instance whose supervisor has to be asked. */
interface Supervised extends Asked {
  readonly health: Health | undefined;
}

/** Resolves with what is known of each instance: null if its supervisor did not answer or cannot know. */
export async function whatRuns(
  { io, paths }: Server,
  apps: readonly AppState[],
): Promise<Required<Pick<View, 'runs' | 'pids' | 'restarts'>>> {
  const subjects = apps.flatMap((app) => subjectsOf(io, paths, app));
  // Supervisors cannot be asked when config.yml requires a sandbox that cannot run here.
  const questions = subjects.map((subject) =>
    unlessFailure(() => driverFor(subject.start).status(subject), 'unknown' as const),
  );
  const [said, heard] = await Promise.all([
    askAll(questions, PATIENCE),
    Promise.all(subjects.map(listens)),
  ]);
  const known = new Map<string, SupervisorAnswer>();
  for (const [index, subject] of subjects.entries()) {
    const answer = said[index];
    const isUnknown = !answer || answer.status === 'unknown';
    known.set(`${subject.app} ${subject.instance.name}`, {
      ...answer,
      status: isUnknown ? (heard[index] ?? 'unknown') : answer.status,
      ...(subject.start.type === 'command' && { pids: () => startedFor(subject) }),
    });
  }
  return {
    runs(app, instance) {
      const status = known.get(`${app} ${instance}`)?.status ?? 'unknown';
      return status === 'unknown' ? null : status === 'running';
    },
    restarts: (app, instance) => known.get(`${app} ${instance}`)?.restarts,
    pids: (app, instance) => known.get(`${app} ${instance}`)?.pids?.() ?? [],
  };
}

/** Processes of this user that carry the names of an instance and its release. */
function startedFor(subject: Supervised): number[] {
  const release = basename(subject.release);
  return [...processesOf(subject)].flatMap(([pid, begun]) => (begun === release ? [pid] : []));
}

function subjectsOf(io: Io, paths: Paths, { app, instances }: AppState): Supervised[] {
  const { instance: pathsOf, release: folderOf } = paths.app(app);
  return Object.entries(instances).flatMap(([name, { current }]) => {
    // The note of a process that we started says it all.
    if (!current || isRunning(liveRun(pathsOf(name))) !== null) return [];
    const file = fileOfRelease(paths, app, current);
    if (!file || file.start.type === 'none') return [];
    const known = file.instances.find((each) => each.name === name);
    const instance: Instance = known ?? { name, domain: undefined, env: {} };
    const place = placeIn(instance, pathsOf(name), liveSlot(pathsOf(name)));
    const outerEnv = stepEnvironment(io.env);
    // Only clients of supervisors get it.
    const env = { ...outerEnv, ...instance.env, ...place.env };
    const { start, health } = file;
    const release = folderOf(current.release);
    const { shared, dir } = place.paths;
    const folders = { release, shared, slot: place.slot && dir };
    return [
      {
        ...place,
        app,
        instance,
        start,
        health,
        env,
        outerEnv,
        release,
        confine: (profile: Profile) =>
          openSandboxAnyway({ paths, env: io.env, app }).confine(profile, folders),
      },
    ];
  });
}

/** A command has no supervisor to ask: without a listener at the address of its health it does not run. */
async function listens({ start, health, env }: Supervised): Promise<InstanceStatus> {
  if (start.type !== 'command' || !health || health.kind === 'cmd') return 'unknown';
  const address = expand(health.target, env);
  const problem = await askTcp(health.kind === 'tcp' ? address : hostOf(address), PATIENCE);
  if (!problem) return 'running';
  return problem.isRefused ? 'stopped' : 'unknown';
}

/** `host:port` of an address. */
function hostOf(address: string): string {
  if (!URL.canParse(address)) return '';
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
