/** Audit log lines in signed, numbered batches; each contains the digest of the one before. */
import { orElse } from '@runner/common/foundation/attempt';
import { MESSAGE_MAX } from '../broker/subjects.ts';
import * as f from '../order/fields.ts';
import { type Received, readSigned } from '../order/received.ts';
import { digestOf } from '../order/seal.ts';

/** The signed text, as JSON. */
const batchField = f.object({
  /** From 1. */
  n: f.whole(1),
  /** Digest of the text of the batch before; 32 zeros in the first. */
  prev: f.digestField,
  /** The log file, and the bytes of it, as a `LogOffset` has them. */
  file: f.digestField,
  from: f.whole(0),
  to: f.whole(0),
  /** Earlier lines were rotated away before they could be sent, or no message can hold the line before `from`. */
  gap: f.flag,
  restored: f.optional(f.whole(1)),
  /** The lines, or gzip of them in base64. */
  lines: f.optional(f.text(MESSAGE_MAX)),
  z: f.optional(f.text(MESSAGE_MAX)),
});
export type Batch = f.ValueOf<typeof batchField>;

/** Slow to load, and `--help` does not need it. */
const zlib = () => process.getBuiltinModule('node:zlib');

/** Smaller batches are not compressed, in bytes. */
const SMALL = 4_096;
/** Nearly as small as the default, in half the time. */
const FAST = { level: 1 };
/** Bytes of lines in base64: the rest of a message is far shorter. */
const PACKED_MAX = MESSAGE_MAX - 8_192;
/** Bytes of lines that fit into a message, however badly they compress. */
const SAFE = 700_000;
const NEWLINE = 0x0a;
/** Limit when decompressing, in bytes. */
const LINES_MAX = 16_777_216;
export const FIRST_PREV = '0'.repeat(32);

/**
 * The fields that hold lines: all, or the first of them if a message cannot hold all; and how many bytes they are.
 * `lines` is empty if no message can hold the first.
 */
export function packed(bytes: Buffer): { size: number; fields: Pick<Batch, 'lines' | 'z'> } {
  const size = bytes.length;
  const lines = size < SMALL ? bytes.toString('utf8') : '';
  if (size < SMALL && Buffer.from(lines, 'utf8').equals(bytes)) return { size, fields: { lines } };
  const z = zlib().gzipSync(bytes, FAST).toString('base64');
  if (z.length <= PACKED_MAX) return { size, fields: { z } };
  const fitting = bytes.lastIndexOf(NEWLINE, SAFE) + 1 || bytes.indexOf(NEWLINE) + 1 || size;
  return fitting < size ? packed(bytes.subarray(0, fitting)) : { size, fields: { lines: '' } };
}

/** The lines of a batch, unchanged; undefined if they are not the bytes `from` to `to`. */
export function unpacked({ lines, z, from, to }: Batch): Buffer | undefined {
  if ((lines === undefined) === (z === undefined)) return undefined;
  const unzip = () =>
    zlib().gunzipSync(Buffer.from(z ?? '', 'base64'), { maxOutputLength: LINES_MAX });
  const bytes = lines === undefined ? orElse(unzip, undefined) : Buffer.from(lines, 'utf8');
  return bytes?.length === to - from ? bytes : undefined;
}

/** A batch, and the digest that the next one must name. */
export interface CheckedBatch {
  readonly batch: Batch;
  readonly digest: string;
}

/** The place of a batch in a text that this server signed itself. */
export function batchOf(body = ''): CheckedBatch | undefined {
  const batch = f.parsedValue(body, batchField);
  return batch && { batch, digest: digestOf(body) };
}

/** The batch in a text that a server signed; `undefined`: it did not sign it. */
export function receivedBatch(
  server: string,
  body: string | undefined,
): Received<CheckedBatch & { readonly bytes: Buffer }> {
  const read = readSigned('events', server, body, batchField);
  if ('problem' in read) return read;
  const bytes = unpacked(read.value);
  if (bytes)
    return { value: { batch: read.value, digest: digestOf(read.body), bytes }, body: read.body };
  const problem = `${server} sent events that cannot be read: it does not hold the lines it names`;
  return { problem, isSigned: true };
}

export function follows({ batch }: CheckedBatch, before: CheckedBatch | undefined): boolean {
  return before === undefined || (batch.n === before.batch.n + 1 && batch.prev === before.digest);
}
