import type { ChildProcess } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';

type OutputName = 'stdout' | 'stderr';

/** What a child has written so far. */
export interface CollectedOutput {
  bytes(stream: OutputName): Buffer;
  text(stream: OutputName): string;
  /** Lines of stdout without their newline, from the first, waiting for more until its end. */
  readonly lines: AsyncIterable<string>;
}

/** Gathers what a child writes, from now on. */
export function collect(child: ChildProcess): CollectedOutput {
  const chunks: Record<OutputName, Buffer[]> = { stdout: [], stderr: [] };
  const lines: string[] = [];
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let over = child.stdout === null;
  let wake: (() => void)[] = [];
  const changed = () => {
    const waiting = wake;
    wake = [];
    for (const resume of waiting) resume();
  };

  child.stderr?.on('data', (chunk: Buffer) => chunks.stderr.push(chunk));
  child.stdout?.on('data', (chunk: Buffer) => {
    chunks.stdout.push(chunk);
    const parts = (rest + decoder.write(chunk)).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    changed();
  });
  child.stdout?.on('close', () => {
    over = true;
    const last = rest + decoder.end();
    if (last !== '') lines.push(last);
    changed();
  });

  async function* iterate(): AsyncGenerator<string, void, void> {
    for (let index = 0; ; index += 1) {
      while (index >= lines.length && !over) {
        await new Promise<void>((resolve) => wake.push(resolve));
      }
      const line = lines[index];
      if (line === undefined) return;
      yield line;
    }
  }

  const bytes = (stream: OutputName) => Buffer.concat(chunks[stream]);
  return {
    bytes,
    text: (stream) => bytes(stream).toString('utf8'),
    lines: { [Symbol.asyncIterator]: iterate },
  };
}
