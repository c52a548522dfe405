/** One step of a deploy: a program whose failure ends the deploy. */
import type { Instance } from '@runner/common/deploy-file/read';
import {
  Failure,
  type FailureCode,
  systemCode,
  systemWords,
} from '@runner/common/foundation/failure';
import { type Ending, endingWords, runChild, succeeded } from './child.ts';
import type { DeployLog, Part } from './log.ts';

/** The stages of a deploy at which it can fail. */
export type Stage =
  | 'config'
  | 'export'
  | 'build'
  | 'release'
  | 'switch'
  | 'start'
  | 'health'
  | 'hook'
  | 'rollback';

/** Who is at fault when a step fails. */
export type Blame = 'commit' | 'server' | 'operator';

/** A program that ended badly, and where the log holds what it printed. */
export interface EndedStep {
  /** The command, as it is shown. */
  readonly title: string;
  readonly ending: Ending;
  readonly part: Part | undefined;
}

/** A deploy ends here. `blame` tells whether the commit is at fault: only then it can be blocked. */
export class StepFailure extends Error {
  readonly stage: Stage;
  /** What the step printed, redacted. */
  readonly output: string;
  readonly blame: Blame;
  /** How the step that failed ended, if it was a program whose output is the log's last part. */
  readonly ended: EndedStep | undefined;

  constructor(
    stage: Stage,
    headline: string,
    output: string,
    blame: Blame = 'commit',
    ended?: EndedStep,
  ) {
    super(headline);
    this.stage = stage;
    this.output = output;
    this.blame = blame;
    this.ended = ended;
  }
}

/**
 * The failure of something that printed elsewhere: an app into its own output, a health check into
 * its answer. The log takes it over, since where it stands now it will not stay.
 */
export function toldElsewhere(
  log: DeployLog,
  stage: Stage,
  headline: string,
  output: string,
): StepFailure {
  if (output.trim() !== '') log.line(output.trimEnd());
  return new StepFailure(stage, headline, output);
}

/**
 * Any error as the failure of a stage: what went wrong below a stage must not keep the deploy from
 * being rolled back and recorded. A bug shows its stack in the output.
 */
export function asStepFailure(error: unknown, stage: Stage): StepFailure {
  if (error instanceof StepFailure) return error;
  if (error instanceof Failure) {
    const blame = BLAME[error.code] ?? 'server';
    return new StepFailure(stage, `${stage}: ${error.message}`, '', blame);
  }
  if (systemCode(error) !== undefined) {
    return new StepFailure(
      stage,
      `${stage}: ${systemWords(error)}`,
      (error as Error).message,
      'server',
    );
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new StepFailure(stage, `${stage}: this is a bug in runner`, stack, 'server');
}

const BLAME: Readonly<Partial<Record<FailureCode, Blame>>> = {
  deploy_file_invalid: 'commit',
  interrupted: 'operator',
};

/** A program that ran into a full disk says so; that is not the commit's fault. */
const FULL_DISK = /No space left on device|ENOSPC|Disk quota exceeded|EDQUOT/;

/** A program to run as a step of a deploy. */
export interface Step {
  readonly stage: Stage;
  /** As it is shown in the log and in errors. */
  readonly title: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeout: number;
  readonly marker?: string;
  /** Output that shows that no commit could help. */
  readonly serverFault?: RegExp;
}

/** A shell command as a step. */
export function shellStep({
  command,
  ...rest
}: Omit<Step, 'title' | 'file' | 'args'> & { command: string }): Step {
  return { ...rest, title: command, file: '/bin/sh', args: ['-c', command] };
}

/** Runs a step; its output goes to the deploy's log. Throws a StepFailure. */
export async function runStep(log: DeployLog, signal: AbortSignal, step: Step): Promise<void> {
  const { ending, output } = await tryStep(log, signal, step);
  if (succeeded(ending)) return;
  const headline = `${step.stage}: \`${step.title}\` ${endingWords(ending, step.timeout)}`;
  log.line(headline);
  const ofServer = FULL_DISK.test(output) || step.serverFault?.test(output);
  const blame = ending.interrupted ? 'operator' : ofServer ? 'server' : 'commit';
  const ended = { title: step.title, ending, part: log.parts.at(-1) };
  throw new StepFailure(step.stage, headline, output, blame, ended);
}

/** The same, but how it ended is returned. */
export async function tryStep(
  log: DeployLog,
  signal: AbortSignal,
  step: Step,
): Promise<{ ending: Ending; output: string }> {
  log.line(`$ ${step.title}`);
  const { result, output } = await log.capture(`${step.stage}: ${step.title}`, (fd) =>
    runChild({
      file: step.file,
      args: step.args,
      cwd: step.cwd,
      env: step.env,
      output: fd,
      timeout: step.timeout,
      signal,
      ...(step.marker !== undefined && { marker: step.marker }),
    }),
  );
  return { ending: result, output };
}

/** Replaces `${NAME}` by the instance's variables; an unknown one becomes empty, as in a shell. */
export function expand(text: string, instance: Instance): string {
  return text.replace(
    /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g,
    (_, name: string) => instance.env[name] ?? '',
  );
}
