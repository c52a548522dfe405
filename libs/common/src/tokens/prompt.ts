/** Prompts on a terminal, hidden for secrets. They go to stderr: stdout is for the answer. */
import { Failure, Interrupted } from '../foundation/failure.ts';
import type { Io } from '../foundation/io.ts';

const CTRL_C = '\x03';
const CTRL_D = '\x04';
const CTRL_U = '\x15';
const BACKSPACE = /[\x08\x7f]/;

/** Whether there is a terminal to prompt on. */
export function canAsk(io: Io): boolean {
  return io.stdin.isTTY && io.stderr.isTTY;
}

/** Reads one hidden line. Ctrl-C (status 130) and Ctrl-D are the Failure `interrupted`. */
export function askSecret(io: Io, question: string): string {
  // Loading it takes longer than most commands run.
  const { ReadStream } = process.getBuiltinModule('node:tty');
  const terminal = new ReadStream(io.stdin.fd);
  terminal.setRawMode(true);
  let answer = '';
  try {
    io.stderr.write(`${question}: `);
    for (;;) {
      const bytes = io.stdin.read();
      if (!bytes) throw new Failure('interrupted', 'the input ended before an answer');
      for (const key of Buffer.from(bytes).toString('utf8')) {
        if (key === '\r' || key === '\n') return answer;
        if (key === CTRL_C) throw new Interrupted();
        if (key === CTRL_D) throw new Failure('interrupted', 'cancelled, nothing was changed');
        if (key === CTRL_U) answer = '';
        else if (BACKSPACE.test(key)) answer = [...answer].slice(0, -1).join('');
        else if (key >= ' ') answer += key;
      }
    }
  } finally {
    terminal.setRawMode(false);
    terminal.destroy();
    io.stderr.write('\n');
  }
}

/** Asks a question whose answer is no unless it is yes. */
export function isYes(io: Io, question: string): boolean {
  return /^y(es)?$/i.test(ask(io, `${question} [y/N]`).trim());
}

/** Throws `interrupted` unless the answer is yes. */
export function confirm(io: Io, question: string): void {
  if (!isYes(io, question)) throw new Failure('interrupted', 'not confirmed, nothing was changed');
}

/** Reads one visible line; the end of the input is an empty answer. */
export function ask(io: Io, question: string): string {
  io.stderr.write(`${question} `);
  let answer = '';
  for (let bytes = io.stdin.read(); bytes; bytes = io.stdin.read()) {
    answer += Buffer.from(bytes).toString('utf8');
    if (answer.includes('\n')) break;
  }
  // Ctrl-D leaves the cursor behind the question.
  if (!answer.includes('\n')) io.stderr.write('\n');
  return answer.split('\n')[0] ?? '';
}
