/** Cuts a log that comes in pieces into lines, whatever the pieces. */
import { KeyCutter } from '@runner/common/secrets/private-keys';
import { dropControls, stripAnsi } from '@runner/common/text/plain';

/**
 * Code units of one line that are kept. Far more than is ever shown, so that a secret that begins
 * in the shown part is still whole when it is redacted; everything after it is skipped.
 */
const LINE_KEPT = 8192;

/**
 * Bytes or code units that are read at once. Lines point into the text they were cut from, so a
 * larger one would be held by whatever line of it is remembered.
 */
const PIECE = 16_384;

/**
 * Receives a cleaned line, its number from 1, whether a carriage return drew over it later, and
 * whether it was longer than what is kept. Of a private key there is one line, its first.
 */
export type LineSink = (text: string, line: number, overwritten: boolean, cut: boolean) => void;

/** Takes a log chunk by chunk; lines go to the sink as they are complete. */
export interface LineReader {
  push(chunk: Uint8Array | string): void;
  end(): void;
}

/** Reads UTF-8 bytes or text; a broken byte becomes U+FFFD and never stops the reading. */
export function createLineReader(receive: LineSink): LineReader {
  // A key is known by several lines: cut out here, before each is looked at by itself.
  const cutter = new KeyCutter<readonly [number, boolean, boolean]>((text, about) =>
    receive(text, ...about),
  );
  const sink: LineSink = (text, number, overwritten, long) => {
    if (cutter.passes(text)) receive(text, number, overwritten, long);
    else cutter.take(text, [number, overwritten, long]);
  };
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let kept = '';
  let line = 1;
  // A carriage return that has not yet shown whether it ends the line or returns to its start.
  let returned = false;
  let started = false;
  let cut = false;

  function keep(text: string, from: number, to: number): void {
    if (from >= to) return;
    if (returned) {
      emit(true);
      returned = false;
    }
    started = true;
    cut ||= to - from > LINE_KEPT - kept.length;
    if (kept.length < LINE_KEPT)
      kept += text.slice(from, Math.min(to, from + LINE_KEPT - kept.length));
  }

  function emit(overwritten: boolean): void {
    const raw = kept;
    const wasCut = cut;
    kept = '';
    cut = false;
    if (raw === '') {
      sink('', line, overwritten, wasCut);
      return;
    }
    const drawn = stripAnsi(raw);
    if (!drawn.includes('\r')) {
      sink(dropControls(drawn).trimEnd(), line, overwritten, wasCut);
      return;
    }
    // A jump to the first column was among the escapes.
    const pieces = drawn.split('\r').map((piece) => dropControls(piece).trimEnd());
    const last = Math.max(
      0,
      pieces.findLastIndex((piece) => piece !== ''),
    );
    for (const [index, piece] of pieces.slice(0, last + 1).entries()) {
      if (piece !== '' || index === last) sink(piece, line, overwritten || index < last, wasCut);
    }
  }

  function read(text: string): void {
    let from = 0;
    let carriage = text.indexOf('\r');
    for (;;) {
      const newline = text.indexOf('\n', from);
      const end = newline < 0 ? text.length : newline;
      while (carriage >= 0 && carriage < end) {
        keep(text, from, carriage);
        returned ||= started;
        from = carriage + 1;
        carriage = text.indexOf('\r', from);
      }
      keep(text, from, end);
      if (newline < 0) return;
      emit(false);
      returned = false;
      started = false;
      line += 1;
      from = newline + 1;
    }
  }

  return {
    push(chunk) {
      for (let at = 0; at < chunk.length; at += PIECE) {
        if (typeof chunk === 'string') read(chunk.slice(at, at + PIECE));
        else read(decoder.decode(chunk.subarray(at, at + PIECE), { stream: true }));
      }
    },
    end() {
      read(decoder.decode());
      if (started) emit(false);
      cutter.end();
    },
  };
}
