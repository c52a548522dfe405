/** The lines of standard input that the commands of a pipe read. */
import { Failure } from '@runner/common/foundation/failure';
import { type Io, readAll } from '@runner/common/foundation/io';

/** Bytes. */
const INPUT_MAX = 16_777_216;

/** `source`: the command that prints them. Throws `order_invalid` without a line, so that a failed pipe is not a success. */
export function inputLines({ stdin }: Pick<Io, 'stdin'>, source: string): string[] {
  const lines = readAll(stdin, INPUT_MAX, 'standard input').split('\n').filter(Boolean);
  if (lines.length > 0) return lines;
  throw new Failure('order_invalid', `standard input is empty: it must be the output of ${source}`);
}
