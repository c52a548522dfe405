/** An executable on a real pseudo-terminal: what it shows is waited for, keys are typed. */
import { spawn } from '@lydell/node-pty';
import { cleanEnvironment, executable } from './run.ts';

/** Milliseconds to wait for what should show. */
const PATIENCE = 120_000;

/** An executable that runs on a terminal. */
export interface Session {
  /** Resolves when the text shows behind what was waited for before. */
  expect(wanted: string | RegExp): Promise<void>;
  /** Without `enter`, as single keys. */
  type(text: string): void;
  enter(text?: string): void;
  /** Enters the text, by default none, once the question shows. */
  answer(question: string | RegExp, text?: string): Promise<void>;
  /** Changes the size of the terminal. */
  resize(columns: number, rows: number): void;
  /** Everything shown so far, without colours and erasing. */
  text(): string;
  /** Everything shown so far as the terminal received it. */
  raw(): string;
  /** Resolves when the executable has ended. */
  readonly done: Promise<EndedSession>;
}

/** How an executable on a terminal ended. */
export interface EndedSession {
  readonly status: number;
  readonly signal: number | undefined;
}

/** Where an executable runs, and on a terminal of which size. */
export interface TerminalOptions {
  /** The root on which it works. */
  readonly root: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: 80. */
  readonly columns?: number;
  /** Default: 24. */
  readonly rows?: number;
}

/** What a terminal sends for Ctrl-C: SIGINT, or an answer that cancels. */
export const CTRL_C = '\x03';
/** What a terminal sends for Ctrl-D: the end of input. */
export const CTRL_D = '\x04';

/** What people read, whatever it is coloured with. */
function plain(text: string): string {
  return text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '');
}

/** Starts a tool with these arguments. */
export function startOnTerminal(
  tool: string,
  args: readonly string[],
  { root, env = {}, columns = 80, rows = 24 }: TerminalOptions,
): Session {
  const terminal = spawn(process.execPath, [executable(tool), ...args], {
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
  const done = new Promise<EndedSession>((resolve) => {
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
  const expect: Session['expect'] = async (wanted) => {
    const end = Date.now() + PATIENCE;
    while (!found(wanted)) {
      if (Date.now() > end || over) {
        // What came last may still be on its way.
        await new Promise((resolve) => setTimeout(resolve, 1000));
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
  };
  const enter = (text = '') => terminal.write(`${text}\r`);
  return {
    expect,
    type: (text) => terminal.write(text),
    enter,
    answer: async (question, text) => {
      await expect(question);
      enter(text);
    },
    resize: (width, height) => terminal.resize(width, height),
    text: () => plain(raw),
    raw: () => raw,
    done,
  };
}

/** What is typed once a question shows: one key or piece after the other. */
export interface TypedAnswer {
  readonly question: string;
  readonly keys: readonly string[];
}

/** How an executable ended, and all that the terminal received, colours and erasing included. */
export interface ShownSession extends EndedSession {
  readonly text: string;
}

/** Runs a tool to its end; a question that does not show is not answered. */
export async function runOnTerminal(
  tool: string,
  args: readonly string[],
  options: TerminalOptions,
  answer?: TypedAnswer,
): Promise<ShownSession> {
  const session = startOnTerminal(tool, args, options);
  const isAsked =
    answer !== undefined &&
    (await session.expect(answer.question).then(
      () => true,
      () => false,
    ));
  for (const key of isAsked ? answer.keys : []) {
    session.type(key);
    // Apart, as a person types them.
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  return { ...(await session.done), text: session.raw() };
}
