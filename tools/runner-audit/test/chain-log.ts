/** A chained log over rotated files, as lines that a test can tamper with. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { line, logPath, newRoot, record } from './log.ts';

/** A file of the log: its suffix and its text. */
export interface LogFile {
  readonly suffix: string;
  readonly text: string;
}

/** A record that stands alone: nothing else of its deploy is expected. */
export function lonely(number: number, more: object = {}): string {
  const deploy_id = number.toString(16).padStart(8, '0');
  const timestamp = new Date(1_780_000_000_000 + number * 1000).toISOString();
  return line(
    record(`v${number}`, { event_type: 'RollbackSuccess', deploy_id, timestamp, ...more }),
  );
}

/** Renames the files of a log as logrotate does, and compresses the one before the last. */
export function rotate(root: string): void {
  const live = logPath(root);
  const numbers = filesOf(root).map(({ suffix }) => Number(/\d+/.exec(suffix)?.[0] ?? 0));
  for (const number of numbers.filter((each) => each > 1))
    renameSync(`${live}.${number}.gz`, `${live}.${number + 1}.gz`);
  if (numbers.includes(1)) {
    writeFileSync(`${live}.2.gz`, gzipSync(readFileSync(`${live}.1`)));
    rmSync(`${live}.1`);
  }
  if (numbers.includes(0)) renameSync(live, `${live}.1`);
}

/** The files of a log, oldest first. */
export function filesOf(root: string): LogFile[] {
  const names = readdirSync(dirname(logPath(root)));
  const suffixes = names.map((name) => name.replace('deploy-events.jsonl', ''));
  const number = (suffix: string) => Number(/\d+/.exec(suffix)?.[0] ?? 0);
  return suffixes
    .sort((a, b) => number(b) - number(a))
    .map((suffix) => {
      const bytes = readFileSync(logPath(root) + suffix);
      const text = suffix.endsWith('.gz') ? gunzipSync(bytes) : bytes;
      return { suffix, text: text.toString('latin1') };
    });
}

/** A root with these files; `packed` has what is compressed already, by its text. */
export function rootWithFiles(
  files: readonly LogFile[],
  packed: ReadonlyMap<string, Buffer> = new Map(),
): string {
  const root = newRoot();
  mkdirSync(join(root, 'logs'), { recursive: true });
  for (const { suffix, text } of files) {
    const bytes = Buffer.from(text, 'latin1');
    writeFileSync(
      logPath(root) + suffix,
      suffix.endsWith('.gz') ? (packed.get(text) ?? gzipSync(bytes, { level: 1 })) : bytes,
    );
  }
  return root;
}

/** A log of `records` records in four files, with a torn line and late records. */
export async function chainedLog(records: number): Promise<string> {
  const root = newRoot();
  const part = Math.ceil(records / 4);
  for (let from = 0; from < records; from += part) {
    const lines = Array.from({ length: Math.min(part, records - from) }, (_, index) =>
      lonely(from + index, index % 50 === 7 ? { late: true } : {}),
    );
    if (from > 0) rotate(root);
    const half = Math.ceil(lines.length / 2);
    await append(root, lines.slice(0, half));
    // What a killed writer leaves.
    writeFileSync(logPath(root), '{"timestamp":"2026-05', { flag: 'a' });
    await append(root, lines.slice(half));
  }
  return root;
}

async function append(root: string, lines: readonly string[]): Promise<void> {
  const { status, stderr } = await run('runner-audit', ['emit'], { root, stdin: lines.join('') });
  assert.equal([status, stderr], [0, '']);
}
