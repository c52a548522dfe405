/**
 * `npm run bench -- audit`: the audit log at its limits: a stream of events, and reading a log of 100 MB,
 * and finding the newest failure in one of 1 GB.
 * `--rounds N` (default 9). The status is 1 when a budget is missed.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { executable } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { STEADY, writeLog } from './harness/audit-log.ts';
import {
  type Contestant,
  compare,
  conclude,
  FLOOR,
  memoryOf,
  ours,
  printRows,
  printTable,
  quantile,
  verdict,
} from './harness/measure.ts';
import { printSetting, roundsWanted } from './harness/setting.ts';

const AUDIT = executable('runner-audit');
const EVENTS = 300_000;
/** Events a second: with the least fields, and with a commit and its subject, which may hold a secret. */
const STREAM_BUDGET = 100_000;
const LONG_BUDGET = 30_000;
/** Megabytes beyond those of `node -e 0`. */
const MEMORY_BUDGET = 10;
const MEGABYTES = 100;
const GIGABYTE = 1024;

/** Which fields an event has: `complete` ones need no id and no time, `long` ones have a subject. */
type EventFields = 'short' | 'complete' | 'long';

/** 200 letters. */
const SUBJECT = 'Fix the total of the cart '.repeat(8).trim().slice(0, 200);

/** A file of events as a program hands them in. */
function eventFile(folder: string, fields: EventFields): string {
  const path = join(folder, fields);
  const more = { timestamp: '2026-05-04T09:30:00.000Z', instance: 'default' };
  const about = fields === 'long' ? { commit: 'c0ffee12'.repeat(5), subject: SUBJECT } : {};
  const lines = Array.from({ length: EVENTS }, (_, number) => {
    const id = number.toString(16).padStart(8, '0');
    const event = { event_type: 'DeployStarted', project: 'shop', version: `v1.0.${number}` };
    return JSON.stringify(
      fields === 'short' ? event : { ...more, ...event, deploy_id: id, ...about },
    );
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
    ['from a file', 'complete', false, STREAM_BUDGET],
    ['through a pipe', 'complete', true, STREAM_BUDGET],
    ['from a file, ids and times to be made', 'short', false, STREAM_BUDGET],
    ['from a file, with a commit and a subject of 200 letters', 'long', false, LONG_BUDGET],
  ] as const;
  const rows = ways.map(([name, fields, piped, budget]) => {
    const input = eventFile(root, fields);
    const times = Array.from({ length: rounds }, () => streamed(input, root, piped));
    const quick = quantile(times, 0.25);
    const rate = Math.round((EVENTS / quick) * 1000);
    return { rate, budget, cells: [name, `${quick.toFixed(0)} ms`, rate, budget] };
  });
  const isQuick = ({ rate, budget }: (typeof rows)[number]) => rate >= budget;
  printRows(
    `${EVENTS} events through audit emit`,
    ['what', 'time', 'events a second', 'budget', ''],
    rows.map((row) => [...row.cells, verdict(isQuick(row))]),
  );
  return rows.every(isQuick);
}

function memory(contestants: readonly Contestant[]): boolean {
  const floor = memoryOf(FLOOR, 5);
  if (floor === undefined) return true;
  const sizes = contestants.map((each) => ({ ...each, size: memoryOf(each, 5) ?? 0 }));
  const isSmall = ({ size, budget }: (typeof sizes)[number]) =>
    budget === undefined || size - floor <= MEMORY_BUDGET;
  printRows(
    'Memory',
    ['what', 'MB', 'beyond node -e 0', 'budget', ''],
    sizes.map((each) => [
      each.name,
      each.size.toFixed(0),
      (each.size - floor).toFixed(1),
      ...(each.budget === undefined ? ['', ''] : [MEMORY_BUDGET, verdict(isSmall(each))]),
    ]),
  );
  return sizes.every(isSmall);
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
  const lastError = ['runner-debug', 'last-error'];
  const list = ['runner-audit', 'list', '--project', STEADY];
  const budget = 1.25;
  const reading = [
    ours('last-error, a recent hit', root, [...lastError, 'app0'], { budget }),
    ours('last-error, an app that is not in the log', root, [...lastError, 'quiet'], { budget: 4 }),
    ours('last-error, an app that never failed', root, [...lastError, STEADY], { budget: 4 }),
    ours('audit list --project, the newest 20', root, [...list, '-n20']),
    ours('audit list --project, all', root, list),
    ours('audit verify', root, ['runner-audit', 'verify']),
  ];
  const inLarge = ours('last-error, a recent hit in 1 GB', large, [...lastError, 'app0'], {
    budget,
  });
  conclude([
    stream(rounds),
    printTable(`A log of ${MEGABYTES} MB`, compare([FLOOR, ...reading, inLarge], rounds)),
    memory(reading),
  ]);
}

main();
