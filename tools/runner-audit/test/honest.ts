/** Random histories of a log that nobody tampers with: kills, rotations, many writers, a full disk. */
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { executable, run, shell, shellWord, start } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { filesOf, lonely, rotate } from './chain-log.ts';
import { logPath, newRoot } from './log.ts';

/** A history so far. */
interface History {
  readonly root: string;
  readonly random: (below: number) => number;
  /** Number of the next event. */
  next: number;
  /** Versions whose echo came. */
  readonly acknowledged: string[];
}

type Step = (history: History) => Promise<void>;

/** Events with the time of their recording, unless they are late: writers do not agree on another. */
function events(history: History, count: number, timestamp?: string): string[] {
  return Array.from({ length: count }, () => {
    history.next += 1;
    return lonely(history.next, { timestamp, error: 'x'.repeat(history.random(300)) });
  });
}

function acknowledge(history: History, stdout: string): void {
  const whole = stdout
    .slice(0, stdout.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean);
  history.acknowledged.push(...whole.map((each) => JSON.parse(each).version));
}

const append: Step = async (history) => {
  const stdin = events(history, 1 + history.random(40)).join('');
  const { stdout } = await run('runner-audit', ['emit'], { root: history.root, stdin });
  acknowledge(history, stdout);
};

/** A writer that is killed in the middle of a stream, most often while it appends. */
const kill: Step = async (history) => {
  const emit = start('runner-audit', ['emit'], { root: history.root });
  // A write may fail: the program is killed.
  emit.stdin.on('error', () => {});
  emit.stdin.write(events(history, 1).join(''));
  for await (const _ of emit.stdout) break;
  const feed = setInterval(() => emit.stdin.write(events(history, 20).join('')), 1);
  await new Promise((resolve) => setTimeout(resolve, history.random(30)));
  emit.kill('SIGKILL');
  clearInterval(feed);
  acknowledge(history, (await emit.done).stdout);
};

const crowd: Step = async (history) => {
  const writers = Array.from({ length: 24 }, () => append(history));
  if (history.random(2) === 0) rotateIfThere(history);
  await Promise.all(writers);
};

/** What a limit on the size of a file does is what a full disk does: the write is cut short. */
const fullDisk: Step = async (history) => {
  const size = statSync(logPath(history.root), { throwIfNoEntry: false })?.size ?? 0;
  const limit = size + 10 + history.random(2000);
  const stdin = events(history, 60).join('');
  const emit = `${shellWord(process.execPath)} ${shellWord(executable('runner-audit'))} emit`;
  const { stdout } = await shell(`prlimit --fsize=${limit} ${emit}`, { root: history.root, stdin });
  acknowledge(history, stdout);
};

const late: Step = async (history) => {
  const spool = join(history.root, 'spool/audit');
  mkdirSync(spool, { recursive: true, mode: 0o700 });
  for (const [index, line] of events(history, 3, new Date(0).toISOString()).entries())
    writeFileSync(
      join(spool, `${history.next}-${index}.jsonl`),
      line.replace('}', ',"late":true}'),
    );
};

function rotateIfThere({ root }: History): void {
  if (statSync(logPath(root), { throwIfNoEntry: false })) rotate(root);
}

const STEPS: readonly Step[] = [
  append,
  append,
  kill,
  fullDisk,
  late,
  async (history) => rotateIfThere(history),
];

function newHistory(random: () => number): History {
  const below = (limit: number) => Math.floor(random() * limit);
  return { root: newRoot(), random: below, next: 0, acknowledged: [] };
}

/** Throws unless the log verifies and has everything that was acknowledged; then removes it. */
async function requireWhole({ root, acknowledged }: History): Promise<void> {
  const { status, stdout } = await run('runner-audit', ['verify'], { root });
  assert.equal([status, stdout.split(':')[0]], [0, 'whole'], `${root}\n${stdout}`);
  const texts = filesOf(root).map(({ text }) => text);
  const there = new Set(texts.flatMap((text) => text.match(/"version":"v\d+"/g) ?? []));
  assert.equal(
    acknowledged.filter((version) => !there.has(`"version":"${version}"`)),
    [],
  );
  rmSync(root, { recursive: true });
}

/** Runs a history; throws unless its log verifies and has everything that was acknowledged. */
export async function honest(
  random: () => number,
  steps: number,
  hasCrowd: boolean,
): Promise<void> {
  const history = newHistory(random);
  await append(history);
  for (let step = 0; step < steps; step += 1)
    await (STEPS[history.random(STEPS.length)] as Step)(history);
  if (hasCrowd) await crowd(history);
  // A torn last line is vouched for by the record after it.
  await append(history);
  await requireWhole(history);
}

/** Kills writers of one log while they append, one after another. */
export async function killed(random: () => number, times: number): Promise<void> {
  const history = newHistory(random);
  for (let time = 0; time < times; time += 1) await kill(history);
  await append(history);
  await requireWhole(history);
}
