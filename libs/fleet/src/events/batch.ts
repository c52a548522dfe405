/** Audit log lines in signed, numbered batches; each contains the digest of the one before. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { jsonObject } from '@runner/common/text/json';
import { digestOf, isSealedBy, sealedTextOf } from '../order/seal.ts';

/** Where in the log a batch ends. */
export interface Position {
  /** Digest of the file's first line: identifies it after rotation. */
  readonly file: string;
  /** Offset in bytes. */
  readonly to: number;
}

/** The signed text, as JSON. */
export interface Batch extends Position {
  /** From 1. */
  readonly n: number;
  /** Digest of the text of the batch before; 32 zeros in the first. */
  readonly prev: string;
  readonly from: number;
  /** Earlier lines were rotated away before they could be sent. */
  readonly gap: boolean;
  /** The lines, or gzip of them in base64. */
  readonly lines?: string;
  readonly z?: string;
}

/** Smaller batches are not compressed, in bytes. */
const SMALL = 4_096;
/** Limit when decompressing, in bytes. */
const LINES_MAX = 16_777_216;
export const FIRST_PREV = '0'.repeat(32);

/** The fields that hold lines. */
export function packed(bytes: Buffer): Pick<Batch, 'lines' | 'z'> {
  const lines = bytes.toString('utf8');
  const isText = bytes.length < SMALL && Buffer.from(lines, 'utf8').equals(bytes);
  return isText ? { lines } : { z: gzipSync(bytes).toString('base64') };
}

/** The lines of a batch, unchanged. */
export function unpacked({ lines, z }: Batch): Buffer {
  if (z === undefined) return Buffer.from(lines ?? '', 'utf8');
  return gunzipSync(Buffer.from(z, 'base64'), { maxOutputLength: LINES_MAX });
}

/** A batch, and the digest that the next one must name. */
export interface Checked {
  readonly batch: Batch;
  readonly digest: string;
}

/** Undefined unless the server has signed it. */
export function batchOf(text: string, server: string, key: string): Checked | undefined {
  const sealed = sealedTextOf(text);
  if (sealed?.server !== server || !isSealedBy('events', sealed, key)) return undefined;
  const batch = jsonObject(sealed.body) as Batch | undefined;
  return batch && { batch, digest: digestOf(sealed.body) };
}

/** Whether a batch follows the one before it. */
export function follows({ batch }: Checked, before: Checked | undefined): boolean {
  return before === undefined || (batch.n === before.batch.n + 1 && batch.prev === before.digest);
}
