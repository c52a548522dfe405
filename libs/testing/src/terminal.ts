/** A command on a real pseudo-terminal: what it shows is waited for, keys are typed. */
import { spawn } from '@lydell/node-pty';
import { cleanEnvironment, executable } from '@runner/testing/run';

/** Milliseconds to wait for what should show. */
const PATIENCE = 15_000;

export interface Session {
  /** Resolves when the text shows behind what was waited for before. */
  expect(wanted: string | RegExp): Promise<void>;
  /** Without `enter`, as single keys. */
  type(text: string): void;
  enter(text?: string): void;
  /** Everything shown so far, without colours and erasing. */
  text(): string;
  raw(): string;
  readonly done: Promise<{ status: number; signal: number | undefined }>;
}

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

export const CTRL_C = '\x03';
export const CTRL_D = '\x04';

/** What people read, whatever it is coloured with. */
function plain(text: string): string {
  return text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '');
}

/** Starts `runner-notify` with these arguments. */
export function onTerminal(
  root: string,
  args: readonly string[],
  { env = {}, columns = 240, rows = 24 }: TerminalOptions = {},
): Session {
  const terminal = spawn(process.execPath, [executable('runner-notify'), ...args], {
    cols: columns,
    rows,
    env: { ...cleanEnvironment({ root }), TERM: 'xterm', ...env },
  });
  let raw = '';
  let from = 0;
  let wake = () => {};
  let over = false;
  terminal.onData((data) => {
    raw += data;
    wake();
  });
  const done = new Promise<{ status: number; signal: number | undefined }>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      over = true;
      resolve({ status: exitCode, signal: signal || undefined });
      wake();
    });
  });
  const found = (wanted: string | RegExp): boolean => {
    const text = plain(raw).slice(from);
    const index = typeof wanted === 'string' ? text.indexOf(wanted) : text.search(wanted);
    if (index === -1) return false;
    const length =
      typeof wanted === 'string' ? wanted.length : (wanted.exec(text)?.[0].length ?? 0);
    from += index + length;
    return true;
  };
  return {
    async expect(wanted) {
      const end = Date.now() + PATIENCE;
      while (!found(wanted)) {
        if (Date.now() > end || over) {
          // What came last may still be on its way.
          await new Promise((resolve) => setTimeout(resolve, 50));
          if (found(wanted)) return;
          terminal.kill('SIGKILL');
          throw new Error(
            `'${wanted}' does not show after: ${plain(raw).slice(from)}\n--- all:\n${plain(raw)}`,
          );
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, 200);
        });
      }
    },
    type: (text) => terminal.write(text),
    enter: (text = '') => terminal.write(`${text}\r`),
    text: () => plain(raw),
    raw: () => raw,
    done,
  };
}
