/** Runs other programs: those of runner, git, systemctl. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Io } from '@runner/common/foundation/io';
import { jsonObject } from '@runner/common/text/json';
import { type Found, type Patient, problem } from './finding.ts';

/** Time limit of a program of runner that calls services, in milliseconds. */
const OURS_TIMEOUT = 15_000;
/** Most output that is kept, in characters. */
const OUTPUT_MAX = 4_194_304;

/** How a program ended. */
export interface Ran {
  /** Exit status; null when it was ended by a signal or the time limit. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Between SIGTERM, at which a program ends what it started, and SIGKILL, in milliseconds. */
const GRACE = 2_000;

/** Process groups of the programs that are running, and their ends. */
const running = new Map<number, Promise<unknown>>();

/** Ends all running programs, and what they started. */
export async function endPrograms(): Promise<void> {
  for (const group of running.keys()) end(group);
  await Promise.all(running.values());
}

function end(group: number): void {
  const send = (signal: NodeJS.Signals) => {
    try {
      process.kill(-group, signal);
    } catch {
      // It has ended.
    }
  };
  send('SIGTERM');
  setTimeout(() => running.has(group) && send('SIGKILL'), GRACE).unref();
}

/**
 * Runs a program for up to `timeout` ms, then ends it and everything that it started. Undefined when
 * there is no such program.
 */
export function runFor(
  io: Io,
  timeout: number,
  program: string,
  args: readonly string[],
): Promise<Ran | undefined> {
  // Secrets given to this command are not for others.
  const env = { ...io.env };
  for (const name of ['RUNNER_TOKEN', 'RUNNER_TELEGRAM_TOKEN', 'RUNNER_DISCORD_WEBHOOK'])
    delete env[name];
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env: { ...env, LC_ALL: 'C' },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const texts = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        if (texts[name].length < OUTPUT_MAX) texts[name] += chunk;
      });
    }
    const group = child.pid;
    if (group !== undefined) running.set(group, new Promise((ended) => child.once('close', ended)));
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      if (group !== undefined) end(group);
      child.stdout.destroy();
      child.stderr.destroy();
    }, timeout);
    child.once('error', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
    child.once('close', (status) => {
      clearTimeout(timer);
      running.delete(group as number);
      resolve({ status: isLate ? null : status, ...texts });
    });
  });
}

/**
 * What a program of runner answers with `--json`, in the field `wanted`; else what is wrong. `again`
 * is its command, `purpose` what could not be done without the answer.
 */
export async function askOurs<T>(
  { io, paths }: Patient,
  tool: string,
  args: readonly string[],
  { wanted, purpose, again }: { wanted: string; purpose: string; again: string },
): Promise<{ readonly answer: readonly T[] } | { readonly found: Found }> {
  const program = join(dirname(io.program), tool);
  const all = [program, ...args, '--root', paths.root, '--json'];
  const ran = existsSync(program)
    ? await runFor(io, OURS_TIMEOUT, process.execPath, all)
    : undefined;
  if (ran === undefined)
    return { found: problem(`${tool} is missing beside this program`, 'runner --list') };
  const said = jsonObject(ran.stdout) ?? {};
  if (Array.isArray(said[wanted])) return { answer: said[wanted] };
  const late = ran.status === null;
  const why = late ? `no answer within ${OURS_TIMEOUT / 1000} s` : (said.message ?? 'no answer');
  return { found: problem(`${purpose}: ${why}`, again) };
}
