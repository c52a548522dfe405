/** The terminal while the screen is shown: only lines that have changed are written. */
import type { ReadStream } from 'node:tty';
import type { Io } from '@runner/common/foundation/io';

/** Alternate screen, without a cursor and without wrapping; and back. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l';

/** What arrow and function keys send, and single characters. */
const KEYS = /\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.)|[\s\S]/gu;

/** Takes the terminal over until `leave`, which may be called in any state. */
export class TopScreen {
  readonly #io: Io;
  readonly #input: ReadStream;
  #shown: readonly string[] = [];
  #size = '';
  #isEntered = false;

  /** `typed` gets each key, and undefined when the terminal is gone. */
  constructor(io: Io, typed: (key: string | undefined) => void) {
    this.#io = io;
    const { ReadStream: Input } = process.getBuiltinModule('node:tty');
    this.#input = new Input(io.stdin.fd);
    this.#input.setEncoding('utf8');
    this.#input.on('data', (keys: string) => {
      for (const key of keys.match(KEYS) ?? []) typed(key);
    });
    for (const event of ['end', 'error']) this.#input.on(event, () => typed(undefined));
    process.on('exit', () => this.leave());
    // Before the error is printed, which would vanish with the alternate screen.
    process.prependListener('uncaughtException', () => this.leave());
  }

  enter(): void {
    this.#input.setRawMode(true);
    this.#input.resume();
    this.#io.stdout.write(ENTER);
    this.#isEntered = true;
    this.#size = '';
  }

  /** Gives the terminal back as it was. */
  leave(): void {
    if (!this.#isEntered) return;
    this.#isEntered = false;
    this.#input.pause();
    this.#input.setRawMode(false);
    this.#io.stdout.write(LEAVE);
  }

  /** Reads keys without the screen: to wait for one behind a command. */
  listen(): void {
    this.#input.setRawMode(true);
    this.#input.resume();
  }

  close(): void {
    this.leave();
    this.#input.destroy();
  }

  /** Shows lines, of which none is wider than the terminal; nothing is written if nothing has changed. */
  draw(lines: readonly string[]): void {
    if (!this.#isEntered) return;
    const { columns, rows } = this.#io.stdout;
    const size = `${columns} ${rows}`;
    let text = '';
    if (size !== this.#size) {
      text = '\x1b[0m\x1b[2J';
      this.#shown = [];
    }
    this.#size = size;
    for (let row = 0; row < rows; row += 1) {
      const line = lines[row] ?? '';
      if (line !== (this.#shown[row] ?? '')) text += `\x1b[${row + 1};1H\x1b[2K${line}`;
    }
    this.#shown = lines;
    if (text !== '') this.#io.stdout.write(text);
  }
}
