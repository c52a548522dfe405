/**
 * `npm run bench -- audit`: the audit log at its limits: a stream of events, and reading a log of 100 MB,
 * and finding the newest failure in one of 1 GB.
 * `--rounds N` (default 9). The status is 1 when a budget is missed.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { STEADY, writeLog } from './harness/audit-log.ts';
import { type Contestant, compare, FLOOR, printTable } from './harness/measure.ts';
import { bin, printSetting, roundsWanted } from './harness/setting.ts';

const AUDIT = bin('runner-audit');
const DEBUG = bin('runner-debug');
const EVENTS = 300_000;
/** Events a second. */
const STREAM_BUDGET = 100_000;
/** Megabytes beyond those of `node -e 0`. */
const MEMORY_BUDGET = 10;
const MEGABYTES = 100;
const GIGABYTE = 1024;

function verdict(kept: boolean): string {
  return kept ? 'kept' : 'MISSED';
}

/** A file of events as a program hands them in; `complete` ones need no id and no time. */
function eventFile(folder: string, complete: boolean): string {
  const path = join(folder, complete ? 'complete' : 'short');
  const more = { timestamp: '2026-05-04T09:30:00.000Z', instance: 'default' };
  const lines = Array.from({ length: EVENTS }, (_, number) => {
    const id = number.toString(16).padStart(8, '0');
    const event = { event_type: 'DeployStarted', project: 'shop', version: `v1.0.${number}` };
    return JSON.stringify(complete ? { ...more, ...event, deploy_id: id } : event);
  });
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

/** Milliseconds in which the events were on disk, and echoed to a program that counts their bytes. */
function streamed(input: string, root: string, piped: boolean): number {
  rmSync(join(root, 'logs'), { recursive: true, force: true });
  // What was written before must not be paid for now.
  spawnSync('sync');
  const script = `${piped ? 'cat "$1" | "$2" "$3" emit' : '"$2" "$3" emit < "$1"'} | wc -c`;
  const begin = performance.now();
  const { stdout } = spawnSync('/bin/sh', ['-c', script, 'sh', input, process.execPath, AUDIT], {
    env: { PATH: process.env.PATH, RUNNER_ROOT: root },
    encoding: 'utf8',
  });
  const took = performance.now() - begin;
  if (Number(stdout) !== statSync(join(root, 'logs/deploy-events.jsonl')).size)
    throw new Error('not every event was echoed');
  return took;
}

function stream(rounds: number): boolean {
  const root = temporaryFolder('bench');
  const ways = [
    ['from a file', eventFile(root, true), false],
    ['through a pipe', eventFile(root, true), true],
    ['from a file, ids and times to be made', eventFile(root, false), false],
  ] as const;
  process.stdout.write(
    `\n### ${EVENTS} events through audit emit\n\n| what | time | events a second | budget | |\n|---|---|---|---|---|\n`,
  );
  const kept = ways.map(([name, input, piped]) => {
    const times = Array.from({ length: rounds }, () => streamed(input, root, piped));
    const quick = times.sort((a, b) => a - b)[Math.floor((rounds - 1) / 4)] as number;
    const rate = Math.round((EVENTS / quick) * 1000);
    const good = rate >= STREAM_BUDGET;
    const row = [name, `${quick.toFixed(0)} ms`, rate, STREAM_BUDGET, verdict(good)];
    process.stdout.write(`| ${row.join(' | ')} |\n`);
    return good;
  });
  return !kept.includes(false);
}

/** Largest resident size in MB, from GNU time: the least of five runs. */
function memoryOf(args: readonly string[], root: string): number {
  const nowhere = openSync('/dev/null', 'w');
  const sizes = Array.from({ length: 5 }, () => {
    const { stderr } = spawnSync('/usr/bin/time', ['-f', '%M', process.execPath, ...args], {
      env: { PATH: process.env.PATH, RUNNER_ROOT: root },
      encoding: 'utf8',
      stdio: ['ignore', nowhere, 'pipe'],
    });
    return Number(stderr.trim().split('\n').at(-1)) / 1024;
  });
  closeSync(nowhere);
  return Math.min(...sizes);
}

function memory(root: string, contestants: readonly Contestant[]): boolean {
  if (!existsSync('/usr/bin/time')) return true;
  const floor = memoryOf(FLOOR.args, root);
  process.stdout.write(
    `\n### Memory\n\n| what | MB | beyond node -e 0 | budget | |\n|---|---|---|---|---|\n`,
  );
  const kept = contestants.map(({ name, args, budget }) => {
    const size = memoryOf(args, root);
    const good = size - floor <= MEMORY_BUDGET;
    const row = [name, size.toFixed(0), (size - floor).toFixed(1)];
    const judged = budget === undefined ? ['', ''] : [MEMORY_BUDGET, verdict(good)];
    process.stdout.write(`| ${[...row, ...judged].join(' | ')} |\n`);
    return good || budget === undefined;
  });
  return !kept.includes(false);
}

/** A root with a log of so many megabytes, and some of the apps that are in it. */
function rootWithLog(megabytes: number): string {
  const root = join(temporaryFolder('bench'), 'root');
  mkdirSync(join(root, 'state'), { recursive: true, mode: 0o700 });
  for (const app of ['app0', STEADY, 'quiet']) {
    const state = JSON.stringify({ version: 1, app, repo: `acme/${app}`, branch: 'main' });
    writeFileSync(join(root, 'state', `${app}.json`), state, { mode: 0o600 });
  }
  writeLog(root, megabytes);
  return root;
}

function main(): void {
  const rounds = roundsWanted(9);
  const root = rootWithLog(MEGABYTES);
  const large = rootWithLog(GIGABYTE);
  printSetting('The audit log at its limits', rounds);
  const contestant = (name: string, args: readonly string[], budget?: number): Contestant => ({
    name,
    file: process.execPath,
    args,
    env: { RUNNER_ROOT: root },
    ...(budget !== undefined && { budget }),
  });
  const reading = [
    contestant('last-error, a recent hit', [DEBUG, 'last-error', 'app0'], 1.25),
    contestant('last-error, an app that is not in the log', [DEBUG, 'last-error', 'quiet'], 4),
    contestant('last-error, an app that never failed', [DEBUG, 'last-error', STEADY], 4),
    contestant('audit list --project, the newest 20', [AUDIT, 'list', '--project', STEADY, '-n20']),
    contestant('audit list --project, all', [AUDIT, 'list', '--project', STEADY]),
    contestant('audit verify', [AUDIT, 'verify']),
  ];
  const hit = contestant('last-error, a recent hit in 1 GB', [DEBUG, 'last-error', 'app0'], 1.25);
  const inLarge = { ...hit, env: { RUNNER_ROOT: large } };
  const kept = [
    stream(rounds),
    printTable(`A log of ${MEGABYTES} MB`, compare([FLOOR, ...reading, inLarge], rounds)),
    memory(root, reading),
  ];
  if (kept.includes(false)) process.exitCode = 1;
}

main();
