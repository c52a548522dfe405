/** Asking a supervisor, with a time limit. */
import { spawnSync } from 'node:child_process';
import { ended } from '../../run/child.ts';
import { spawnCutOff, startCutOff } from '../../run/outside.ts';
import type { Confinement } from '../../sandbox/sandbox.ts';
import type { InstanceStatus, SupervisorAnswer, SupervisorQuestion } from './driver.ts';

/** An answer takes milliseconds; a supervisor that hangs must not block a deploy, or its lock. */
const PATIENCE = 30_000;

/** Runs a supervisor's client for up to 30 seconds; `status` is null if it did not answer. Blocks. */
export function ask(
  program: string,
  args: readonly string[],
  {
    env,
    cwd = '/',
    most = 1_048_576,
    confinement,
  }: {
    env: Readonly<Record<string, string>>;
    cwd?: string | undefined;
    most?: number;
    confinement?: Confinement | undefined;
  },
): { readonly status: number | null; readonly stdout: string } {
  const { status, stdout } = startCutOff(
    { file: program, args, cwd, env },
    confinement,
    (command, descriptors) =>
      spawnSync(command.file, command.args, {
        env: command.env,
        cwd: command.cwd,
        encoding: 'utf8',
        maxBuffer: most,
        timeout: PATIENCE,
        killSignal: 'SIGKILL',
        stdio: ['ignore', 'pipe', 'ignore', ...descriptors],
      }),
  );
  return { status, stdout: stdout ?? '' };
}

/** In bytes: pm2's list contains the environment of every process. */
export const ANSWER_MAX = 67_108_864;

/** Asks one question, and waits for the answer. Blocks. */
export function askNow(status: InstanceStatus | SupervisorQuestion): InstanceStatus {
  if (typeof status === 'string') return status;
  const { program, args, subject, env, cwd, confinement, read } = status;
  const all = subject === undefined ? args : [...args, subject];
  const asked = ask(program, all, { env, cwd, confinement, most: ANSWER_MAX });
  return asked.status === 0 ? read(asked.stdout, 0).status : 'unknown';
}

/** Asks all questions at once, those to one supervisor with one call, for up to `patience` ms. */
export async function askAll(
  questions: readonly (InstanceStatus | SupervisorQuestion)[],
  patience: number,
): Promise<SupervisorAnswer[]> {
  const calls = new Map<string, SupervisorQuestion[]>();
  for (const question of questions) {
    if (typeof question === 'string') continue;
    const { program, args, env, cwd } = question;
    const call = JSON.stringify([program, args, env, cwd]);
    calls.set(call, [...(calls.get(call) ?? []), question]);
  }
  const answers = new Map<SupervisorQuestion, SupervisorAnswer>();
  const askOne = async (same: readonly SupervisorQuestion[]) => {
    const subjects = [...new Set(same.flatMap(({ subject }) => subject ?? []))];
    const stdout = await outputOf(same[0] as SupervisorQuestion, subjects, patience);
    if (stdout === undefined) return;
    for (const question of same)
      answers.set(question, question.read(stdout, subjects.indexOf(question.subject ?? '')));
  };
  await Promise.all([...calls.values()].map(askOne));
  return questions.map((question) =>
    typeof question === 'string'
      ? { status: question }
      : (answers.get(question) ?? { status: 'unknown' }),
  );
}

/** What a client printed; undefined if it failed, or did not answer in time. */
async function outputOf(
  { program, args, env, cwd = '/', confinement }: SupervisorQuestion,
  subjects: readonly string[],
  timeout: number,
): Promise<string | undefined> {
  const asked = { file: program, args: [...args, ...subjects], cwd, env };
  const child = spawnCutOff(asked, confinement, ['ignore', 'pipe', 'ignore']);
  const chunks: Buffer[] = [];
  let size = 0;
  const giveUp = () => {
    // What the client started may hold it open.
    child.stdout?.destroy();
    child.kill('SIGKILL');
  };
  const timer = setTimeout(giveUp, timeout);
  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > ANSWER_MAX) giveUp();
    else chunks.push(chunk);
  });
  const status = await ended(child);
  clearTimeout(timer);
  return status === 0 ? Buffer.concat(chunks).toString('utf8') : undefined;
}
