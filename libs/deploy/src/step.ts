/** One step of a deploy: a shell command whose failure ends the deploy. */
import type { Instance } from '@runner/common/deploy-file';
import { type Ending, endingWords, runChild, succeeded } from './child.ts';
import type { DeployLog } from './deploy-log.ts';

/** The stages of a deploy at which it can fail. */
export type Stage =
  | 'config'
  | 'export'
  | 'build'
  | 'release'
  | 'switch'
  | 'start'
  | 'health'
  | 'hook';

/** Who is at fault when a step fails. */
export type Blame = 'commit' | 'server' | 'operator';

/** A deploy ends here. `blame` tells whether the commit is at fault: only then it can be blocked. */
export class StepFailure extends Error {
  readonly stage: Stage;
  /** What the step printed, redacted. */
  readonly output: string;
  readonly blame: Blame;

  constructor(stage: Stage, headline: string, output: string, blame: Blame = 'commit') {
    super(headline);
    this.stage = stage;
    this.output = output;
    this.blame = blame;
  }
}

export interface Shell {
  readonly stage: Stage;
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeout: number;
  readonly marker?: string;
}

/** Runs a shell command; its output goes to the deploy's log. Throws a StepFailure. */
export async function runShell(log: DeployLog, signal: AbortSignal, shell: Shell): Promise<void> {
  const { ending, output } = await tryShell(log, signal, shell);
  if (succeeded(ending)) return;
  const headline = `${shell.stage}: \`${shell.command}\` ${endingWords(ending, shell.timeout)}`;
  log.line(headline);
  throw new StepFailure(shell.stage, headline, output, ending.interrupted ? 'operator' : 'commit');
}

/** The same, but how it ended is returned. */
export async function tryShell(
  log: DeployLog,
  signal: AbortSignal,
  shell: Shell,
): Promise<{ ending: Ending; output: string }> {
  log.line(`$ ${shell.command}`);
  const { result, output } = await log.capture((fd) =>
    runChild({
      file: '/bin/sh',
      args: ['-c', shell.command],
      cwd: shell.cwd,
      env: shell.env,
      output: fd,
      timeout: shell.timeout,
      signal,
      ...(shell.marker !== undefined && { marker: shell.marker }),
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
