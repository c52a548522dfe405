/** The keys of a terminal, one by one, also while other work is in progress. */
import { StringDecoder } from 'node:string_decoder';
import { ReadStream } from 'node:tty';
import { Failure, Interrupted } from '@runner/common/foundation/failure';

const CTRL_C = '\x03';

/** Why there is no answer. */
export const INPUT_ENDED = 'the input ended before an answer';

/** What arrow and function keys send. */
const SEQUENCE = /\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.|[^[O])?/g;

/** A terminal in raw mode. */
export type Keyboard = ReturnType<typeof openKeyboard>;

/** Takes the terminal over until `close`: keys arrive at once, nothing is echoed. */
export function openKeyboard(fd: number) {
  const terminal = new ReadStream(fd);
  terminal.setRawMode(true);
  const decoder = new StringDecoder('utf8');
  const typed: string[] = [];
  let end: Failure | undefined;
  const controller = new AbortController();
  let wake = () => {};
  let reject: (reason: Failure) => void;
  const ended = new Promise<never>((_resolve, refuse) => {
    reject = refuse;
  });
  // It may reject while no caller awaits it.
  ended.catch(() => {});
  const finish = (reason: Failure) => {
    end ??= reason;
    reject(end);
    controller.abort();
    wake();
  };
  const gone = () => finish(new Failure('interrupted', INPUT_ENDED));
  terminal.on('data', (bytes) => {
    const text = decoder.write(bytes).replace(SEQUENCE, '');
    if (text.includes(CTRL_C)) finish(new Interrupted());
    typed.push(...text);
    wake();
  });
  terminal.on('end', gone);
  terminal.on('error', gone);
  return {
    /** Rejects at Ctrl-C and when the terminal is gone; never resolves. */
    ended,
    /** Aborts at the same time. */
    signal: controller.signal,
    /** The next key. Rejects with Interrupted, or with `interrupted` at the end of the input. */
    async next(signal?: AbortSignal): Promise<string> {
      for (;;) {
        if (end) throw end;
        const key = typed.shift();
        if (key !== undefined) return key;
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal?.addEventListener('abort', () => resolve(), { once: true });
        });
        signal?.throwIfAborted();
      }
    },
    close() {
      terminal.setRawMode(false);
      terminal.destroy();
    },
  };
}
