/**
 * The steps of a deploy as they run: a line with a spinner and the time on a terminal, elsewhere one
 * plain line per step, with `--json` a line of JSON. Drawn on stderr; only JSON goes to stdout.
 */
import { lineOf } from '@runner/common/audit/append';
import type { DeployEvent } from '@runner/common/audit/events';
import type { Context } from '@runner/common/cli/command';
import { canDraw } from '@runner/common/cli/output';
import { harmless, harmlessLine, jsonLine } from '@runner/common/text/harmless';
import type { Reporter } from './reporter.ts';

/** A reporter that draws, until it is ended, with `using` at the end of the block. */
export interface ProgressDisplay extends DrawnProgress, Disposable {}

interface DrawnProgress {
  readonly reporter: Reporter;
  /** Stops drawing; ends a half-drawn line. */
  end(): void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/** Between two frames, in milliseconds. */
const FRAME_TIME = 100;

type ProgressContext = Pick<Context, 'io' | 'format' | 'note' | 'errStyle'> & {
  readonly options: { readonly events: boolean };
};

/**
 * Progress that suits the format and the terminal; `verbose` shows the output of steps too. With
 * `--events` each event is a line on stdout once it is recorded.
 */
export function progressFor(context: ProgressContext, verbose: boolean): ProgressDisplay {
  const drawn = displayFor(context, verbose);
  const display = { ...drawn, [Symbol.dispose]: drawn.end };
  if (!context.options.events) return display;
  const recorded = (event: DeployEvent) => context.io.stdout.write(lineOf(event));
  return { ...display, reporter: { ...display.reporter, recorded } };
}

function displayFor(context: ProgressContext, verbose: boolean): DrawnProgress {
  if (context.format === 'json') return jsonProgress(context);
  return canDraw(context.io.env, context.io.stderr) && !verbose
    ? terminalProgress(context)
    : plainProgress(context, verbose);
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function jsonProgress({ io, note }: ProgressContext): DrawnProgress {
  let step = '';
  let began = 0;
  const print = (status: string, fields: Record<string, unknown> = {}) =>
    io.stdout.write(`${jsonLine({ step, status, ...fields })}\n`);
  const ended = (status: string, fields: Record<string, unknown> = {}) =>
    print(status, { duration_ms: Math.round(io.elapsed() - began), ...fields });
  return {
    reporter: {
      begin(name) {
        [step, began] = [name, io.elapsed()];
        print('started');
      },
      done: () => ended('done'),
      failed: () => ended('failed'),
      skipped: (reason) => ended('skipped', { reason }),
      output: () => {},
      note,
    },
    end: () => {},
  };
}

function plainProgress({ io, note, errStyle }: ProgressContext, verbose: boolean): DrawnProgress {
  let step = '';
  let began = 0;
  const ended = (word: string) =>
    io.stderr.write(`${word} ${harmlessLine(step)} (${seconds(io.elapsed() - began)})\n`);
  return {
    reporter: {
      begin(name) {
        [step, began] = [name, io.elapsed()];
        if (verbose) io.stderr.write(`${errStyle.bold(`> ${harmlessLine(name)}`)}\n`);
      },
      done: () => ended(errStyle.green('ok    ')),
      failed: () => ended(errStyle.red('failed')),
      skipped: (why) =>
        io.stderr.write(`${errStyle.yellow('skipped')} ${harmlessLine(`${step}: ${why}`)}\n`),
      output: (text) =>
        verbose && io.stderr.write(harmless(text.replaceAll('\r\n', '\n').replaceAll('\r', '\n'))),
      note,
    },
    end: () => {},
  };
}

function terminalProgress({ io, note, errStyle }: ProgressContext): DrawnProgress {
  let step = '';
  let began = 0;
  let timer: NodeJS.Timeout | undefined;
  const draw = (mark: string) => {
    const time = seconds(io.elapsed() - began);
    const room = io.stderr.columns - time.length - 6;
    const shown = harmlessLine(step);
    const name = shown.length > room ? `${shown.slice(0, Math.max(0, room - 1))}…` : shown;
    io.stderr.write(`\r\x1b[K${mark} ${name} ${errStyle.dim(time)}`);
  };
  const spin = () =>
    draw(
      errStyle.cyan(
        FRAMES[Math.floor((io.elapsed() - began) / FRAME_TIME) % FRAMES.length] as string,
      ),
    );
  const stop = (mark?: string) => {
    if (!timer) return;
    clearInterval(timer);
    timer = undefined;
    if (mark) draw(mark);
    io.stderr.write('\n');
  };
  return {
    reporter: {
      begin(name) {
        stop();
        [step, began] = [name, io.elapsed()];
        spin();
        timer = setInterval(spin, FRAME_TIME);
      },
      done: () => stop(errStyle.green('✔')),
      failed: () => stop(errStyle.red('✘')),
      skipped(why) {
        stop(errStyle.yellow('–'));
        note(`skipped ${step}: ${why}`);
      },
      output: () => {},
      note(text) {
        stop();
        note(text);
      },
    },
    end: () => stop(),
  };
}
