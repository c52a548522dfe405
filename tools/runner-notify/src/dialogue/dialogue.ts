/**
 * Questions on a terminal, drawn on stderr: stdout is for the result. Ctrl-C ends the dialogue at any
 * point, also during a request.
 */

import { cells, type Style } from '@runner/common/cli/output';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { INPUT_ENDED, type Keyboard, openKeyboard } from './keyboard.ts';

const CTRL_D = '\x04';
const CTRL_U = '\x15';
const BACKSPACE = /[\x08\x7f]/;
const ERASE_LINE = '\r\x1b[K';

/** The ways to ask a person. */
export type Dialogue = ReturnType<typeof openDialogue>;

/** Aligns further lines with the text of the first. */
const INDENT = '  ';

/** Breaks a line between words; a longer word stays whole. */
function wrap(text: string, width: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && cells(longer) >= width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].join(`\n${INDENT}`);
}

/** Reads one line; `echo` shows what is typed. */
async function readLine(keyboard: Keyboard, echo: (text: string) => void): Promise<string> {
  let answer: string[] = [];
  const erase = (count: number) => {
    const kept = answer.slice(0, -count);
    echo('\b \b'.repeat(answer.length - kept.length));
    answer = kept;
  };
  for (;;) {
    const key = await keyboard.next();
    if (key === '\r' || key === '\n') return answer.join('').trim();
    if (key === CTRL_D && answer.length === 0) throw new Failure('interrupted', INPUT_ENDED);
    if (key === CTRL_U) erase(answer.length);
    else if (BACKSPACE.test(key)) erase(1);
    else if (key >= ' ' && harmless(key) === key) {
      answer.push(key);
      echo(key);
    }
  }
}

/** Takes the terminal over until `close`. */
export function openDialogue(io: Io, style: Style) {
  const keyboard = openKeyboard(io.stdin.fd);
  const write = (text: string) => io.stderr.write(text);
  const wrapped = (text: string) => wrap(harmlessLine(text), io.stderr.columns - INDENT.length);

  const lineOf = async (question: string, shown: boolean): Promise<string> => {
    write(`${style.cyan('?')} ${harmlessLine(question)}: `);
    return readLine(keyboard, shown ? write : () => {}).finally(() => write('\n'));
  };

  const during = <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const working = work(keyboard.signal);
    // After Ctrl-C its result is not read.
    working.catch(() => {});
    return Promise.race([working, keyboard.ended]);
  };

  const warn = (text: string) => write(`${style.yellow('!')} ${wrapped(text)}\n`);

  return {
    /** Aborts when the dialogue ends early. */
    signal: keyboard.signal,
    title: (text: string) => write(`${style.bold(harmlessLine(text))}\n`),
    /** A sentence, wrapped to the width of the terminal. */
    say: (text: string) => write(`  ${wrapped(text)}\n`),
    done: (text: string) => write(`${style.green('✔')} ${wrapped(text)}\n`),
    warn,
    ask: (question: string) => lineOf(question, true),
    /** Without echo. */
    askSecret: (question: string) => lineOf(`${question} (not shown)`, false),
    /** Enter means yes. */
    async confirm(question: string): Promise<boolean> {
      for (;;) {
        const answer = (await lineOf(`${question} [Y/n]`, true)).toLowerCase();
        if (['', 'y', 'yes'].includes(answer)) return true;
        if (['n', 'no'].includes(answer)) return false;
        warn('answer with y or n');
      }
    },
    /** Shows numbered choices; returns the index of the number or text that was typed. */
    async choose(question: string, choices: readonly string[]): Promise<number> {
      choices.forEach((choice, index) => {
        write(`  ${String(index + 1).padStart(2)}  ${harmlessLine(choice)}\n`);
      });
      for (;;) {
        const answer = await lineOf(`${question} [1-${choices.length}]`, true);
        const named = choices.findIndex((each) => each.toLowerCase() === answer.toLowerCase());
        if (named >= 0) return named;
        const number = /^\d{1,3}$/.test(answer) ? Number(answer) : 0;
        if (number >= 1 && number <= choices.length) return number - 1;
        warn(`answer with a number from 1 to ${choices.length}`);
      }
    },
    /** Waits for `work`; Ctrl-C aborts its signal and rejects. */
    during,
    /** The same, redrawing `line` every second; undefined when `key` was pressed. */
    watch: <T>(line: () => string, key: string, work: (signal: AbortSignal) => Promise<T>) =>
      during(async (signal): Promise<T | undefined> => {
        const draw = () => write(`${ERASE_LINE}${harmlessLine(line())}`);
        const timer = setInterval(draw, 1000);
        const stop = new AbortController();
        const pressed = async () => {
          while ((await keyboard.next(stop.signal)).toLowerCase() !== key);
          return undefined;
        };
        const watching = pressed();
        // Its rejection is not read when the work ends first.
        watching.catch(() => {});
        draw();
        try {
          const both = AbortSignal.any([signal, stop.signal]);
          return await Promise.race([work(both), watching]);
        } finally {
          clearInterval(timer);
          stop.abort();
          write(ERASE_LINE);
        }
      }),
    close: () => keyboard.close(),
  };
}
