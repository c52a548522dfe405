/** Cuts private keys out of text that comes in pieces. */
import { KeyCutter } from './private-keys.ts';

/** A stream of one text. */
export class KeyStream {
  #shown = '';
  readonly #cutter = new KeyCutter<string>((line, end) => {
    this.#shown += line + end;
  });

  /** Returns what can be shown; a partial line counts as a line. */
  take(text: string): string {
    const lines = text.split('\n');
    const part = lines.pop();
    for (const line of lines) this.#cutter.take(line, '\n');
    if (part) this.#cutter.take(part, '');
    return this.#taken();
  }

  end(): string {
    this.#cutter.end();
    return this.#taken();
  }

  #taken(): string {
    const text = this.#shown;
    this.#shown = '';
    return text;
  }
}
