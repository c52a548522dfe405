/** What `status` shows of one app beside its summary: secrets, checks, and what it uses. */
import { readdirSync, readFileSync } from 'node:fs';
import { readSecrets } from '@runner/common/app-secrets/file';
import { type Disk, diskOf } from '@runner/common/apps/disk';
import { liveRun } from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import type { AppSummary } from '@runner/common/apps/summary';
import { recordedProcess, runningPid, sessionOf, startTimeOf } from '@runner/common/files/process';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { type ChecksVerdict, verdictOf } from '@runner/deploy/checks/verdict';

/** The processes of an instance with `start.type: process`. */
export interface Usage {
  /** Its first process. */
  pid: number;
  /** Seconds since that was started. */
  up_s: number;
  /** Resident memory of all of them, in bytes. */
  memory: number;
}

/** The answer of `status` for one app. */
export interface Detailed extends AppSummary {
  /** Names of its secrets; null if they cannot be read. */
  secrets: string[] | null;
  /** By instance; without those that a supervisor runs. */
  usage: Record<string, Usage>;
  /** Why the newest commit is not deployed yet: its checks; null if none is waited for. */
  checks: Waiting | null;
  /** null: not counted. */
  disk: Disk | null;
}

/** What the checks of a commit keep from being deployed. */
export interface Waiting extends ChecksVerdict {
  commit: string;
}

/** For counting the files of the app, in milliseconds. */
const COUNTING = 2_000;

export function detailed(
  paths: Paths,
  app: AppState,
  summary: AppSummary,
  counts: boolean,
): Detailed {
  const usage = summary.instances.flatMap(({ instance }) => {
    const used = usageOf(liveRun(paths.app(summary.app).instance(instance)));
    return used ? [[instance, used] as const] : [];
  });
  return {
    ...summary,
    secrets: namesOf(paths, summary.app),
    usage: Object.fromEntries(usage),
    checks: waitingOf(app),
    disk: counts ? diskOf(paths, summary.app, COUNTING) : null,
  };
}

function waitingOf({ require_checks: required, checks, head, instances }: AppState) {
  if (!required || !checks || (head !== undefined && checks.commit !== head)) return null;
  const isActive = Object.values(instances).some(
    ({ current }) => current?.commit === checks.commit,
  );
  const verdict = verdictOf(required, checks);
  if (isActive || verdict.result === 'passed') return null;
  return { commit: checks.commit, ...verdict };
}

function namesOf(paths: Paths, app: string): string[] | null {
  try {
    const names = readSecrets(paths, app)?.secrets.map(({ name }) => name) ?? [];
    return [...new Set(names)].sort();
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** Clock ticks a second, as Linux reports them on every platform. */
const TICKS = 100;

function usageOf(run: string): Usage | undefined {
  const pid = runningPid(run);
  const start = pid && startTimeOf(pid);
  if (pid === undefined || !start) return undefined;
  const session = recordedProcess(run)?.session ?? pid;
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const memory = pids
    .filter((name) => Number(name) === pid || sessionOf(Number(name)) === session)
    .map((name) => Number(/^VmRSS:\s*(\d+) kB/m.exec(textOf(`/proc/${name}/status`))?.[1] ?? 0))
    .reduce((sum, each) => sum + each * 1024, 0);
  const sinceBoot = Number(textOf('/proc/uptime').split(' ')[0]);
  return { pid, up_s: Math.max(0, Math.round(sinceBoot - Number(start) / TICKS)), memory };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // The process has ended.
  }
}
