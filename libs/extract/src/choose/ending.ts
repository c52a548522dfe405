/** How a step ended, in words: for logs that do not say why. */
import type { ErrorClass } from '../rules/rule.ts';

/** How the step that wrote the log ended. */
export interface Ending {
  /** The step's name, as the runner calls it. */
  readonly step?: string;
  readonly command?: string;
  readonly exit?: {
    readonly code?: number;
    readonly signal?: string;
    readonly timedOut?: boolean;
    readonly oom?: boolean;
  };
}

/** An ending in words. `grave`: it is itself the cause, whatever the log says. */
export interface Told {
  readonly words: string;
  readonly grave: boolean;
  readonly class: ErrorClass;
}

/** Exit statuses that a shell gives for a signal begin above this. */
const SIGNALLED = 128;
const SIGNALS: Readonly<Record<number, string>> = {
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  15: 'SIGTERM',
};

/** The ending in words; null when nothing is known of it, or when it ended well. */
export function ending({ step, command, exit }: Ending): Told | null {
  const who = [
    step === undefined ? '' : `step ${step}`,
    command === undefined ? '' : `(${command})`,
  ];
  const subject = who.filter((part) => part !== '').join(' ') || 'the command';
  if (exit?.timedOut === true) {
    return {
      words: `${subject} ran into its time limit and was stopped`,
      grave: true,
      class: 'timeout',
    };
  }
  const code = exit?.code;
  const signal =
    exit?.signal ??
    (code !== undefined && code > SIGNALLED ? SIGNALS[code - SIGNALLED] : undefined);
  if (exit?.oom === true) {
    return { words: `${subject} was killed: out of memory`, grave: true, class: 'memory' };
  }
  if (signal !== undefined) {
    const hint = signal === 'SIGKILL' ? ', perhaps for lack of memory' : '';
    return { words: `${subject} was killed by ${signal}${hint}`, grave: true, class: 'killed' };
  }
  if (code === 127)
    return {
      words: `${subject}: command not found (exit status 127)`,
      grave: false,
      class: 'command',
    };
  if (code === 126)
    return {
      words: `${subject}: not executable (exit status 126)`,
      grave: false,
      class: 'command',
    };
  if (code === 124) {
    // As timeout(1) says it.
    return {
      words: `${subject} ran into a time limit (exit status 124)`,
      grave: false,
      class: 'timeout',
    };
  }
  if (code !== undefined && code !== 0) {
    return { words: `${subject} ended with exit status ${code}`, grave: false, class: 'exit' };
  }
  return null;
}
