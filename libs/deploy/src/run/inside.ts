/**
 * The processes in a sandbox. bubblewrap passes no signal on: they are signalled one by one, and
 * bubblewrap goes last.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { orElse } from '@runner/common/foundation/attempt';
import type { Prefix } from '../sandbox/limits.ts';
import type { Confinement, ProgramCall } from '../sandbox/sandbox.ts';
import { startCutOff } from './outside.ts';
import { ownProcesses, signal } from './processes.ts';

/** What runs in a sandbox. */
export type SandboxProcess = ReturnType<typeof insideOf>;

/** What to start, and where its output goes. */
export interface Spawned extends ProgramCall {
  /** Descriptor for standard output and standard error. */
  readonly output: number;
  readonly confinement?: Confinement | undefined;
  readonly prefix?: Prefix | undefined;
  /** Whether it is waited for: bubblewrap then reports how it ended as well. */
  readonly isWaitedFor?: boolean;
}

/** Arguments that let bubblewrap report what it runs; see `insideOf`. */
export const REPORT = ['--info-fd', '4'] as const;
/** The same, and how it ended: that is missing if the sandbox could not be made. */
const REPORT_END = ['--json-status-fd', '4'] as const;

/** Starts a program in a new session, in the sandbox if it is confined. */
export function spawnDetached(spec: Spawned) {
  const { output, confinement, prefix, isWaitedFor } = spec;
  const child = startCutOff(spec, confinement, (command, descriptors) => {
    const report = confinement ? (isWaitedFor ? REPORT_END : REPORT) : [];
    const words = [...(prefix?.words ?? []), command.file, ...report, ...command.args];
    // Without the sandbox a commit can leave its limits anyway.
    const env = confinement ? { ...prefix?.env, ...command.env } : command.env;
    const pipes = confinement ? [...descriptors, 'pipe' as const] : [];
    const channel = confinement?.guard ? ['ipc' as const] : [];
    return spawn(words[0] as string, words.slice(1), {
      cwd: command.cwd,
      env,
      detached: true,
      stdio: ['ignore', output, output, ...pipes, ...channel],
    });
  });
  confinement?.guard?.carry(child);
  return { child, inside: confinement && insideOf(child) };
}

/** What bubblewrap runs, which reports about it on descriptor 4. */
export function insideOf(child: ChildProcess) {
  let first: number | undefined;
  let text = '';
  const pipe = child.stdio[4] as Readable;
  const known = new Promise<number | undefined>((resolve) => {
    const look = () => {
      const pid = /"child-pid": ([0-9]+)/.exec(text)?.[1];
      if (pid !== undefined) first = Number(pid);
      return first;
    };
    pipe.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      if (look() !== undefined) resolve(first);
    });
    pipe.once('error', () => resolve(undefined));
    pipe.once('close', () => resolve(look()));
  });
  const ran = new Promise<boolean>((resolve) => {
    pipe.once('close', () => resolve(text.includes('"exit-code"')));
  });
  return {
    /** Resolves with the pid of its first process, which only waits; undefined if it has not begun. */
    first: known,
    /** Resolves at its end with whether the command ran; only if bubblewrap reports how it ended. */
    ran,
    /** Signals all of it. What has not begun yet is not started. */
    signal(name: NodeJS.Signals): void {
      const pids = first === undefined ? [] : processesIn(first);
      for (const pid of pids) signal(pid, name);
      const outer = first ?? child.pid;
      if (pids.length === 0 && outer !== undefined) signal(outer, 'SIGKILL');
    },
    kill(): void {
      // The end of the first process of a namespace ends the others.
      if (first !== undefined && namespaceOf(first) !== namespaceOf(process.pid))
        signal(first, 'SIGKILL');
    },
  };
}

/** The processes of the namespace that `first` began, without it; itself if it began none. */
function processesIn(first: number): number[] {
  const space = namespaceOf(first);
  if (space === undefined || space === namespaceOf(process.pid)) return [first];
  return ownProcesses().filter((pid) => pid !== first && namespaceOf(pid) === space);
}

function namespaceOf(pid: number): string | undefined {
  return orElse(() => readlinkSync(`/proc/${pid}/ns/pid`), undefined);
}
