/** Cuts a log that comes in pieces into lines, whatever the pieces. */
import { KeyCutter } from '@runner/common/secrets/private-keys';
import { withoutPictures } from '@runner/common/text/pictures';
import { dropControls, stripAnsi } from '@runner/common/text/plain';

/**
 * Code units of one line that are kept. Far more than is ever shown, so that a secret that begins
 * in the shown part is still whole when it is redacted; everything after it is skipped.
 */
const LINE_KEPT = 8192;

/** Bytes or code units that are read at once. */
const PIECE = 16_384;

/**
 * Receives a cleaned line, its number from 1, whether a carriage return drew over it later, and
 * whether it was longer than what is kept. Of a private key there is one line, its first.
 */
export type LineSink = (text: string, line: number, overwritten: boolean, cut: boolean) => void;

/** Reads UTF-8 bytes or text; a broken byte becomes U+FFFD and never stops the reading. */
export function createLineReader(receive: LineSink) {
  // A key spans several lines, so it is cut out before they are looked at one by one.
  const cutter = new KeyCutter<readonly [number, boolean, boolean]>((text, about) =>
    receive(text, ...about),
  );
  const cut = new LineCutter((text, line, overwritten, long) => {
    if (cutter.passes(text)) receive(text, line, overwritten, long);
    else cutter.take(text, [line, overwritten, long]);
  });
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return {
    push(chunk: Uint8Array | string) {
      for (let at = 0; at < chunk.length; at += PIECE) {
        const piece =
          typeof chunk === 'string'
            ? chunk.slice(at, at + PIECE)
            : decoder.decode(chunk.subarray(at, at + PIECE), { stream: true });
        // A kept log has pictures in place of control characters.
        cut.read(withoutPictures(piece));
      }
    },
    end() {
      cut.read(decoder.decode());
      cut.end();
      cutter.end();
    },
  };
}

/** Cuts text at newlines; carriage returns divide a line into drawings of which the last counts. */
class LineCutter {
  readonly #sink: LineSink;
  #kept = '';
  #line = 1;
  /** A carriage return came that either ends the line or returns to its start. */
  #returned = false;
  #started = false;
  #cut = false;

  constructor(sink: LineSink) {
    this.#sink = sink;
  }

  read(text: string): void {
    let from = 0;
    let carriage = text.indexOf('\r');
    for (;;) {
      const newline = text.indexOf('\n', from);
      const end = newline < 0 ? text.length : newline;
      while (carriage >= 0 && carriage < end) {
        this.#keep(text, from, carriage);
        this.#returned ||= this.#started;
        from = carriage + 1;
        carriage = text.indexOf('\r', from);
      }
      this.#keep(text, from, end);
      if (newline < 0) return;
      this.#emit(false);
      this.#returned = false;
      this.#started = false;
      this.#line += 1;
      from = newline + 1;
    }
  }

  end(): void {
    if (this.#started) this.#emit(false);
  }

  #keep(text: string, from: number, to: number): void {
    if (from >= to) return;
    if (this.#returned) this.#emit(true);
    this.#returned = false;
    this.#started = true;
    const room = LINE_KEPT - this.#kept.length;
    this.#cut ||= to - from > room;
    if (room > 0) this.#kept += text.slice(from, Math.min(to, from + room));
  }

  #emit(overwritten: boolean): void {
    const drawn = this.#kept === '' ? '' : stripAnsi(this.#kept);
    if (drawn.includes('\r')) this.#emitPieces(drawn.split('\r'), overwritten);
    else this.#sink(own(dropControls(drawn).trimEnd()), this.#line, overwritten, this.#cut);
    this.#kept = '';
    this.#cut = false;
  }

  /** A jump to the first column was among the escapes. */
  #emitPieces(drawn: readonly string[], overwritten: boolean): void {
    const pieces = drawn.map((piece) => own(dropControls(piece).trimEnd()));
    const last = Math.max(
      0,
      pieces.findLastIndex((piece) => piece !== ''),
    );
    for (const [index, piece] of pieces.slice(0, last + 1).entries()) {
      if (piece === '' && index < last) continue;
      this.#sink(piece, this.#line, overwritten || index < last, this.#cut);
    }
  }
}

/** A copy: V8's slices hold on to the whole text that they were cut from. */
function own(text: string): string {
  return ` ${text}`.slice(1);
}
