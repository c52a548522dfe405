/**
 * A database's own command line tools. A password is in their environment, never in an argument. What a
 * commit puts into a database can make them run programs: they are confined as its own commands are.
 */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { onPath } from '../instances/drivers/availability.ts';
import { spawnCutOff } from '../run/outside.ts';
import type { DatabaseAddress } from './address.ts';
import { accessOf, type DatabaseTool, programsOf } from './programs.ts';

/** Longest answer of a tool, in bytes, and longest time, in ms. */
const ANSWER_MAX = 64 * 1_048_576;
const PATIENCE = 60_000;

/** A table of ours in MySQL, which is no part of the schema: note.ts. */
export const NOTE_TABLE = 'runner_note';

/** What a tool may take. */
export interface ToolLimits {
  readonly signal?: AbortSignal | undefined;
  /** In ms. */
  readonly timeout?: number | undefined;
  /** Statements after one that failed still run. */
  readonly isForced?: boolean;
  readonly temporary?: string | undefined;
  /** The descriptor of a lock, which is held until the tool ends, even if runner is killed. */
  readonly lock?: number | undefined;
  /** Takes what the tool prints, instead of an answer. */
  output?(bytes: AsyncIterable<Uint8Array>): Promise<void>;
}

/** What a tool gets: arguments before and after the database, and its stdin. */
interface ToolWords {
  readonly args: readonly string[];
  readonly after?: readonly string[];
  /** If it throws, the tool is killed: an input that is cut short has no end. */
  readonly input?: string | AsyncIterable<Uint8Array | string>;
}

/** Feeds a tool, which may end before it has read everything. Throws what the input throws. */
async function feed({ stdin }: ChildProcess, input: ToolWords['input']): Promise<void> {
  if (!stdin) return;
  stdin.on('error', () => {});
  if (typeof input !== 'object') {
    stdin.end(input);
    return;
  }
  for await (const chunk of input) {
    if (stdin.destroyed) return;
    if (stdin.write(chunk)) continue;
    await new Promise<void>((resolve) => {
      const go = () => {
        stdin.off('drain', go);
        stdin.off('close', go);
        resolve();
      };
      stdin.once('drain', go);
      stdin.once('close', go);
    });
  }
  stdin.end();
}

/** Once a child has exited, Node throws away what no one has begun to read. */
function readAtOnce(stdout: Readable): Readable {
  const pass = new PassThrough();
  // An error is the reader's.
  pipeline(stdout, pass).catch(() => {});
  return pass;
}

function collected(
  { child, file, confinement }: ReturnType<typeof startTool>,
  input: ToolWords['input'],
  limits: ToolLimits,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let [size, errors] = [0, ''];
  let ended: unknown;
  const kill = (why: unknown) => {
    ended ??= why;
    child.kill('SIGKILL');
    // Its end would wait for a reader.
    child.stdout?.destroy();
  };
  const abort = () => kill('was interrupted');
  const timer = setTimeout(() => kill('took too long'), limits.timeout ?? PATIENCE);
  limits.signal?.addEventListener('abort', abort, { once: true });
  if (limits.signal?.aborted) abort();
  const fed = feed(child, input).catch(kill);
  const taken = limits.output?.(readAtOnce(child.stdout as Readable)).catch(kill);
  if (!taken)
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > ANSWER_MAX) kill('answers with more than 64 MiB');
      else chunks.push(chunk);
    });
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString('utf8')).slice(0, 65_536);
  });
  return new Promise<Buffer>((resolve, reject) => {
    child.once('error', () => reject(new Failure('setup_failed', `${file} could not be started`)));
    child.once('close', async (code) => {
      await Promise.all([taken, fed]);
      if (ended !== undefined && typeof ended !== 'string') return reject(ended);
      const doubt = ended ? undefined : confinement?.explain(errors);
      const why = `${sentenceIn(errors)}${doubt ? `; ${doubt}` : ''}`;
      const words = ended ? `${file} ${ended}` : `${file}: ${why}`;
      if (code === 0 || (limits.isForced && !ended)) resolve(Buffer.concat(chunks));
      else reject(new Failure(limits.signal?.aborted ? 'interrupted' : 'setup_failed', words));
    });
  }).finally(() => {
    clearTimeout(timer);
    limits.signal?.removeEventListener('abort', abort);
  });
}

/** The line of an error output that says why, at most 200 characters. */
function sentenceIn(errors: string): string {
  const lines = errors.split('\n').filter((line) => line.trim() !== '');
  const line =
    lines.find((each) => /error|fatal/i.test(each)) ??
    lines.find((each) => !/warning/i.test(each)) ??
    lines[0] ??
    'it failed';
  const words = line
    .replace(/^.*?\b(?:ERROR|FATAL|error|Error)\b:?\s*|^[\w-]+: /, '')
    .slice(0, 200);
  // PostgreSQL has them before or after it.
  const versions = /server version: .*/.exec(errors);
  return harmlessLine(versions ? `${words.trim()}: ${versions[0]}` : words.trim());
}

/** Starts a tool on a database, with all three pipes. Throws `program_not_found`, and what confines it. */
export function startTool(
  address: DatabaseAddress,
  tool: DatabaseTool,
  { args, after = [] }: ToolWords,
  { temporary, lock }: Pick<ToolLimits, 'temporary' | 'lock'> = {},
) {
  const { kind, name } = address;
  const programs = programsOf(kind, tool);
  const { PATH = '' } = process.env;
  const file = programs.find((each) => onPath(each, { PATH }));
  if (file === undefined) throw new Failure('program_not_found', `${programs[0]} is not installed`);
  const { args: own, env, secret } = accessOf(address);
  const last = kind === 'postgres' ? [] : [name];
  const call = {
    file,
    args: [...own, ...args, ...last, ...after],
    cwd: '/',
    env: { PATH, LC_ALL: 'C.UTF-8', ...env },
  };
  const confinement = address.confine?.(temporary);
  const kept = lock === undefined ? [] : [lock];
  const child = spawnCutOff(call, confinement, ['pipe', 'pipe', 'pipe'], { kept });
  return { child, file, confinement, secret };
}

/** Whether it is a file of SQLite that is not there: only the app, or its migration, makes it. */
export const isUnmade = ({ kind, name }: DatabaseAddress) => kind === 'sqlite' && !existsSync(name);

/** Runs a tool with `input`; the answer is what it prints. Throws a Failure without secrets. */
export async function runTool(
  address: DatabaseAddress,
  tool: DatabaseTool,
  words: ToolWords,
  limits: ToolLimits = {},
): Promise<string> {
  // The tool would make it.
  if (isUnmade(address))
    throw new Failure('not_configured', `there is no file ${basename(address.name)}`);
  const started = startTool(address, tool, words, limits);
  const { secret } = started;
  try {
    return (await collected(started, words.input, limits)).toString('utf8');
  } catch (error) {
    const isShown = error instanceof Failure && secret !== '' && error.message.includes(secret);
    throw isShown ? new Failure(error.code, error.message.replaceAll(secret, '***')) : error;
  }
}

/** What a tool prints, as it comes. Throws as `runTool`, at its end. */
export async function* outputOf(
  address: DatabaseAddress,
  tool: DatabaseTool,
  words: ToolWords,
  limits: ToolLimits = {},
): AsyncGenerator<Uint8Array> {
  const pass = new PassThrough();
  const output = (bytes: AsyncIterable<Uint8Array>) => pipeline(bytes, pass);
  const done = runTool(address, tool, words, { ...limits, output });
  done.catch((error) => pass.destroy(error));
  yield* pass;
  await done;
}
