/**
 * `npm run bench -- big-log`: time and memory of `runner-debug extract` on 100 MB of log, on one line
 * of 100 MB, and with `--gigabyte` on ten times as much, beside `grep -c` on the same bytes. The log
 * comes through a pipe and is stored nowhere. The status is 1 when a limit is missed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { orElse } from '@runner/common/foundation/attempt';
import { executable } from '@runner/testing/run';
import { conclude, printRows, verdict } from './harness/measure.ts';
import { memoryIn } from './harness/process.ts';
import { printSetting } from './harness/setting.ts';

const MB = 1_048_576;
/** Largest resident memory, in MB, whatever the size of the log. */
const MEMORY_BUDGET = 150;
/** The log ends with its cause. */
const CAUSE = 'tar: release.tgz: Wrote only 4096 of 10240 bytes: No space left on device';

interface Run {
  readonly seconds: number;
  /** MB; undefined where /proc does not tell. */
  readonly memory: number | undefined;
  readonly text: string;
}

/** A megabyte of progress, every thirteenth line a complaint, every word of a line another. */
function progress(): Buffer {
  const lines: string[] = [];
  for (let n = 0, size = 0; size < MB; n += 1) {
    const word = (n * 7919).toString(36);
    const line =
      n % 13 === 0
        ? `ERROR: retry ${n} of job ${word} failed to reach node\n`
        : `[${n}/9000] Compiling module ${word} into dist/chunk-${n}.js 12.${n % 10} kB\n`;
    lines.push(line);
    size += line.length;
  }
  return Buffer.from(lines.join(''));
}

/** Writes the block so often into the program, then the cause. */
async function feed(file: string, args: string[], block: Buffer, times: number): Promise<Run> {
  const env = { ...process.env };
  for (const name of ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS']) delete env[name];
  const begin = performance.now();
  const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  let memory: number | undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  const timer = setInterval(() => {
    memory =
      orElse(() => memoryIn(readFileSync(`/proc/${child.pid}/status`, 'utf8'), 'VmHWM'), 0) ||
      memory;
  }, 20);
  const closed = once(child, 'close');
  for (let turn = 0; turn < times; turn += 1) {
    if (!child.stdin.write(block)) await once(child.stdin, 'drain');
  }
  child.stdin.end(`\n${CAUSE}\n`);
  await closed;
  clearInterval(timer);
  return { seconds: (performance.now() - begin) / 1000, memory, text };
}

async function main(): Promise<void> {
  const blocks: [string, Buffer][] = [
    ['lines', progress()],
    ['one line', Buffer.alloc(MB, 'a.')],
  ];
  const sizes = process.argv.includes('--gigabyte') ? [100, 1024] : [100];
  printSetting('A big log', 1);
  const rows: string[][] = [];
  let kept = true;
  for (const [name, block] of blocks) {
    for (const size of sizes) {
      const extract = [executable('runner-debug'), 'extract'];
      const ours = await feed(process.execPath, extract, block, size);
      const grep = await feed('grep', ['-c', 'error'], block, size);
      const good = (ours.memory ?? 0) <= MEMORY_BUDGET && ours.text.startsWith(CAUSE);
      kept &&= good;
      rows.push([
        `${size} MB, ${name}`,
        `${ours.seconds.toFixed(2)} s`,
        (size / ours.seconds).toFixed(0),
        ours.memory === undefined ? '' : `${ours.memory.toFixed(0)} of ${MEMORY_BUDGET} MB`,
        `${grep.seconds.toFixed(2)} s`,
        (ours.seconds / grep.seconds).toFixed(1),
        verdict(good),
      ]);
    }
  }
  const heading = ['log', 'extract', 'MB/s', 'memory', 'grep -c', 'ratio', ''];
  printRows('Time and memory', heading, rows);
  conclude([kept]);
}

void main();
