/** Runs other programs: git, systemctl and runner's own tools. */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Server } from '@runner/common/foundation/paths';
import { jsonObject } from '@runner/common/text/json';
import { type CheckResult, problem } from './finding.ts';

/** Time limit, in milliseconds: runner's own tools call services. */
const TIMEOUT = 15_000;
/** Limit of the output kept, in characters. */
const OUTPUT_MAX = 4_194_304;

export interface ProgramResult {
  /** Exit status; null if it was killed or ran out of time. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Between SIGTERM and SIGKILL, in milliseconds. */
const GRACE = 2_000;

/** Process groups of running programs; each promise resolves when the program ends. */
const running = new Map<number, Promise<unknown>>();

/** Ends all running programs and their children. */
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

/** Limits of this process or of the server, which say nothing about the program. */
const LIMITS = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'];

/**
 * Runs a program for up to TIMEOUT, then ends it and its children. Undefined if it is not installed.
 * Throws `not_ready` if nothing can be started now.
 */
export function runFor(
  io: Io,
  program: string,
  args: readonly string[],
): Promise<ProgramResult | undefined> {
  // Other programs do not get the secrets that were given to this command.
  const env = { ...io.env };
  for (const name of ['RUNNER_TOKEN', 'RUNNER_TELEGRAM_TOKEN', 'RUNNER_DISCORD_WEBHOOK'])
    delete env[name];
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...env, LC_ALL: 'C' },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const texts = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      // Undefined if there is no descriptor left.
      child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
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
    }, TIMEOUT);
    child.once('error', (error) => {
      clearTimeout(timer);
      if (LIMITS.includes(systemCode(error) ?? ''))
        reject(systemFailure(error, `start ${basename(program)}`, 'not_ready'));
      else resolve(undefined);
    });
    child.once('close', (status) => {
      clearTimeout(timer);
      running.delete(group as number);
      resolve({ status: isLate ? null : status, ...texts });
    });
  });
}

/**
 * Runs one of runner's own tools with `--json` and returns the list in field `wanted`, or a finding:
 * `purpose` is its message, `again` its command.
 */
export async function runOwnTool<T>(
  { io, paths }: Server,
  tool: string,
  args: readonly string[],
  { wanted, purpose, again }: { wanted: string; purpose: string; again: string },
): Promise<{ readonly answer: readonly T[] } | { readonly found: CheckResult }> {
  const program = join(dirname(io.program), tool);
  const all = [program, ...args, '--root', paths.root, '--json'];
  const ran = existsSync(program) ? await runFor(io, process.execPath, all) : undefined;
  if (ran === undefined)
    return { found: problem(`${tool} is missing in the folder of this program`, 'runner --list') };
  const said = jsonObject(ran.stdout) ?? {};
  if (Array.isArray(said[wanted])) return { answer: said[wanted] };
  const late = ran.status === null;
  const why = late ? `no answer within ${TIMEOUT / 1000} s` : (said.message ?? 'no answer');
  return { found: problem(`${purpose}: ${why}`, again) };
}
