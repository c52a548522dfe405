/** A step of a deploy: a program whose failure ends the deploy. */
import { existsSync } from 'node:fs';
import {
  Failure,
  type FailureCode,
  systemCode,
  systemWords,
} from '@runner/common/foundation/failure';
import type { ProgramCall } from '../sandbox/sandbox.ts';
import { type ChildSpec, describeExit, type ProcessExit, runChild, succeeded } from './child.ts';
import type { DeployLog, LogPart } from './log.ts';

/** The stages of a deploy at which it can fail. */
export type Stage =
  | 'fetch'
  | 'config'
  | 'export'
  | 'build'
  | 'release'
  | 'migrate'
  | 'switch'
  | 'start'
  | 'health'
  | 'canary'
  | 'traffic'
  | 'drain'
  | 'hook'
  | 'rollback';

/** Who is to blame for a failed step. */
export type Blame = 'commit' | 'server' | 'operator';

/** A program that failed, and where its output is in the log. */
export interface EndedStep {
  readonly title: string;
  /** What messages call it; absent: its stage. */
  readonly label?: string | undefined;
  readonly exit: ProcessExit;
  readonly part: LogPart | undefined;
}

/** The failure that ends a deploy. Only a commit that is to blame, as it is by default, can be blocked. */
export class StepFailure extends Error {
  readonly stage: Stage;
  readonly blame: Blame;
  /** The step's output, redacted. */
  readonly output: string;
  /** The program that failed, if it was one whose output is in the log. */
  readonly ended: EndedStep | undefined;
  /** What was seen on the server, and explains the output. */
  readonly seen: string | undefined;
  /** What the app printed itself, if that is not in `output`; redacted. */
  readonly printed: string | undefined;

  constructor(stage: Stage, headline: string, details: FailureDetails = {}) {
    super(headline);
    this.stage = stage;
    this.blame = details.blame ?? 'commit';
    this.output = details.output ?? '';
    this.ended = details.ended;
    this.seen = details.seen;
    this.printed = details.printed;
  }
}

type FailureDetails = {
  readonly [Name in 'blame' | 'output' | 'ended' | 'seen' | 'printed']?:
    | StepFailure[Name]
    | undefined;
};

/** The same failure with more at the end of its message, and with another one to blame. */
export function withEnding(error: StepFailure, ending: string, blame = error.blame): StepFailure {
  return new StepFailure(error.stage, `${error.message}${ending}`, { ...error, blame });
}

/** The same failure with more output, which is logged. */
export function withOutput(error: StepFailure, log: DeployLog, more: string): StepFailure {
  if (more.trim() === '') return error;
  log.line(more.trimEnd());
  const output = [error.output.trimEnd(), more].filter(Boolean).join('\n');
  return new StepFailure(error.stage, error.message, { ...error, output });
}

/** The same failure, whose cause begins with what was seen. */
export function withSeen(error: StepFailure, seen: string | undefined): StepFailure {
  return new StepFailure(error.stage, error.message, { ...error, seen });
}

/** The failure of a step that a signal of the operator ended. */
export function interruption(stage: Stage): StepFailure {
  return new StepFailure(stage, `${stage}: was interrupted`, { blame: 'operator' });
}

/** Throws a StepFailure after a signal of the operator. */
export function refuseInterrupted({ aborted }: AbortSignal, stage: Stage): void {
  if (aborted) throw interruption(stage);
}

/**
 * The failure of something that printed elsewhere: an app to its own output, a health check into its
 * answer. Its output is copied to the log, since it will not stay there.
 */
export function loggedFailure(
  log: DeployLog,
  stage: Stage,
  headline: string,
  output: string,
): StepFailure {
  return withOutput(new StepFailure(stage, headline), log, output);
}

/**
 * Any error as the failure of a stage: whatever goes wrong, the deploy is rolled back and recorded. A
 * bug shows its stack in the output.
 */
export function asStepFailure(error: unknown, stage: Stage): StepFailure {
  if (error instanceof StepFailure) return error;
  if (error instanceof Failure) {
    const blame = BLAME[error.code] ?? 'server';
    return new StepFailure(stage, `${stage}: ${error.message}`, { blame });
  }
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  const isOfSystem = systemCode(error) !== undefined;
  const words = isOfSystem ? systemWords(error) : 'this is a bug in runner';
  const output = isOfSystem ? message : stack;
  return new StepFailure(stage, `${stage}: ${words}`, { blame: 'server', output });
}

/** How something failed; undefined if it succeeded. */
export async function failureOf(
  stage: Stage,
  action: () => Promise<unknown>,
): Promise<StepFailure | undefined> {
  try {
    await action();
    return undefined;
  } catch (error) {
    return asStepFailure(error, stage);
  }
}

const BLAME: Readonly<Partial<Record<FailureCode, Blame>>> = {
  config_invalid: 'operator',
  deploy_file_invalid: 'commit',
  interrupted: 'operator',
};

/** A program to run as a step of a deploy. */
export interface ProgramStep
  extends ProgramCall,
    Pick<ChildSpec, 'timeout' | 'confinement' | 'prefix'> {
  readonly stage: Stage;
  /** What messages call the step; absent: its stage. */
  readonly label?: string;
  /** For display in the log and in errors. */
  readonly title: string;
  /** What messages call the time limit, in milliseconds: that of several steps. Default: `timeout`. */
  readonly limit?: number;
  /** Output that shows a fault of the server: no other commit would help. */
  readonly serverFault?: RegExp;
}

export function shellStep({
  command,
  ...rest
}: Omit<ProgramStep, 'title' | 'file' | 'args'> & { command: string }): ProgramStep {
  return { ...rest, title: command, file: '/bin/sh', args: ['-c', command] };
}

/** Runs a step; its output goes to the deploy's log. Returns its end. Throws a StepFailure. */
export async function runStep(
  log: DeployLog,
  signal: AbortSignal,
  step: ProgramStep,
): Promise<string> {
  const { exit, output } = await tryStep(log, signal, step);
  if (succeeded(exit)) return output;
  const headline = `${step.label ?? step.stage}: \`${step.title}\` ${describeExit(exit, step.limit ?? step.timeout)}`;
  log.line(headline);
  const isOfSandbox = !exit.interrupted && !exit.isSandboxFailure;
  const doubt = isOfSandbox ? step.confinement?.explain(output) : undefined;
  if (doubt !== undefined) log.line(doubt);
  // A commit can only make its own folder disappear.
  const isMissing = exit.startError !== undefined && existsSync(step.cwd);
  const ofServer = isMissing || step.serverFault?.test(output) || exit.isSandboxFailure;
  const blame = exit.interrupted ? 'operator' : ofServer ? 'server' : 'commit';
  const ended = { title: step.title, label: step.label, exit, part: log.parts.at(-1) };
  const failure = new StepFailure(step.stage, headline, { blame, output, ended });
  // Nothing of the command ran, so this is bubblewrap's.
  const reason = exit.isSandboxFailure ? output.trim().split('\n').at(-1) : doubt;
  throw reason ? withEnding(failure, `: ${reason}`) : failure;
}

/** The same, but returns how it ended. */
export async function tryStep(
  log: DeployLog,
  signal: AbortSignal,
  step: ProgramStep,
): Promise<{ exit: ProcessExit; output: string }> {
  log.line(`$ ${step.title}`);
  const { result, output } = await log.capture(`${step.label ?? step.stage}: ${step.title}`, (fd) =>
    runChild({ ...step, output: fd, signal, leavesApp: step.stage === 'start' }),
  );
  return { exit: result, output };
}
