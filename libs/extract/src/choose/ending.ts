/** How a step ended, in words: for logs that do not say why. */
import type { ErrorClass } from '../rules/rule.ts';

/** How the step that wrote the log ended. */
export interface Ending {
  /** The step's name, as the runner calls it. */
  readonly step?: string;
  /** What the words call it; absent: `step` and its name. */
  readonly label?: string;
  readonly command?: string;
  readonly exit?: {
    readonly code?: number;
    readonly signal?: string;
    readonly timedOut?: boolean;
    readonly oom?: boolean;
  };
}

/** An ending in words. */
export interface Explanation {
  readonly words: string;
  readonly class: ErrorClass;
  /** Whether it is itself the cause, whatever the log says. */
  readonly grave: boolean;
}

/** A shell reports a signal as this plus its number. */
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

/** Exit statuses with a meaning of their own: timeout(1), and the shell. */
const STATUSES: Readonly<Record<number, readonly [words: string, kind: ErrorClass]>> = {
  124: [' ran into a time limit (exit status 124)', 'timeout'],
  126: [': not executable (exit status 126)', 'command'],
  127: [': command not found (exit status 127)', 'command'],
};

/** The ending in words; null when nothing is known of it, or when it ended well. */
export function explainEnding({ step, label, command, exit = {} }: Ending): Explanation | null {
  const names = [label ?? (step && `step ${step}`), command && `(${command})`];
  const subject = names.filter(Boolean).join(' ') || 'the command';
  const grave = (words: string, kind: ErrorClass) => ({
    words: `${subject} ${words}`,
    class: kind,
    grave: true,
  });
  const { code = 0, timedOut, oom } = exit;
  const signal = exit.signal ?? SIGNALS[code - SIGNALLED];
  if (timedOut) return grave('ran into its time limit and was stopped', 'timeout');
  if (oom) return grave('was killed: out of memory', 'memory');
  if (signal !== undefined) {
    const hint = signal === 'SIGKILL' ? ', perhaps for lack of memory' : '';
    // A program that aborts itself says why.
    return { ...grave(`was killed by ${signal}${hint}`, 'killed'), grave: signal !== 'SIGABRT' };
  }
  if (code === 0) return null;
  const [words, kind] = STATUSES[code] ?? [` ended with exit status ${code}`, 'exit'];
  return { words: subject + words, class: kind, grave: false };
}
