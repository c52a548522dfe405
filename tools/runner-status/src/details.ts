/** What `status` shows of one app beside its summary: names of its secrets, and what its processes use. */
import { readdirSync, readFileSync } from 'node:fs';
import { readSecrets } from '@runner/common/app-secrets/file';
import { liveRun } from '@runner/common/apps/slots';
import type { AppSummary } from '@runner/common/apps/summary';
import { recordedProcess, runningPid, sessionOf, startTimeOf } from '@runner/common/files/process';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';

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
}

export function detailed(paths: Paths, summary: AppSummary): Detailed {
  const usage = summary.instances.flatMap(({ instance }) => {
    const used = usageOf(liveRun(paths.app(summary.app).instance(instance)));
    return used ? [[instance, used] as const] : [];
  });
  return { ...summary, secrets: namesOf(paths, summary.app), usage: Object.fromEntries(usage) };
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
