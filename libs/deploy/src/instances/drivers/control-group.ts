/** Control groups, which systemd and container runtimes keep one of for each unit and container. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '@runner/common/foundation/attempt';

/** Pids of a control group; empty if it cannot be read, as with cgroups of version 1. */
export function membersOf(group: string): number[] {
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
