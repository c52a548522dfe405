/** Telling the story: what is said between the commands, and the commands as a person types them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cleanEnvironment } from '@runner/testing/run';

const coloured = process.stdout.isTTY === true && !process.env.NO_COLOR;
const paint = (code: number, text: string) => (coloured ? `\x1b[${code}m${text}\x1b[0m` : text);

/** A sentence of the story. */
export function say(text: string): void {
  process.stdout.write(`\n${paint(1, text)}\n`);
}

/** What the story shows between commands. */
export function show(text: string): void {
  process.stdout.write(`${text.replace(/\n?$/, '\n')}`);
}

/** Ends the story unless something is as announced. */
export function expect(condition: boolean, told: string): void {
  if (!condition) throw new Error(`expected that ${told}`);
}

let typed: ChildProcess | undefined;
let interrupted = false;

/** Ends the story as soon as the command that runs has ended; that command gets the signal too, and cleans up. */
export function interrupt(signal: NodeJS.Signals): void {
  interrupted = true;
  if (typed?.pid !== undefined) process.kill(-typed.pid, signal);
}

/** How a command ended. */
export interface Typed {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Types a command into a shell, shows what it prints as it comes, and checks its exit status. */
export function type(command: string, root: string, wanted: number, stdin = ''): Promise<Typed> {
  expect(!interrupted, 'nobody interrupts');
  process.stdout.write(`\n${paint(36, '$')} ${command}\n`);
  const env = cleanEnvironment({ root, env: coloured ? { FORCE_COLOR: '1' } : {} });
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: root,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    // Of its own group: Ctrl-C reaches it once, by interrupt().
    detached: true,
  });
  typed = child;
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
    process.stdout.write(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
    process.stdout.write(chunk);
  });
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      typed = undefined;
      if (status === wanted) resolve({ status, stdout, stderr });
      else reject(new Error(`\`${command}\` ends with status ${wanted}; it was ${status}`));
    });
  });
}
