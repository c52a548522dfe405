/** A chained record and the lines up to the next one, which that record's hash covers. */
import type { Hash } from 'node:crypto';
import { hashOf } from '@runner/common/audit/chain';
import type { SplitLine } from '@runner/common/files/lines-forward';
import type { LinePosition } from './problems.ts';

/** Torn lines beyond this are not counted. */
const TORN_MAX = 1000;
/** How many lines after a record are kept, to find out which one was inserted. */
const KEPT_MAX = 8;

export class Since {
  readonly #record: Buffer;
  #recordHash: string | undefined;
  #hash: Hash | undefined;
  #isWhole = true;
  readonly #torn: LinePosition[] = [];
  readonly #kept: { readonly line: Buffer; readonly place: LinePosition }[] = [];
  /** The first line after the record. */
  first: LinePosition | undefined;

  constructor(record: Buffer) {
    // The line is valid only until the next block is read.
    this.#record = Buffer.from(record);
  }

  /** Adds a line after the record; undefined stands for one that is too long. */
  add(line: SplitLine, place: LinePosition, what: 'torn' | 'reported'): void {
    this.first ??= place;
    if (what === 'torn' && this.#torn.length < TORN_MAX) this.#torn.push(place);
    this.#hash ??= this.#begun();
    if (line === undefined) this.#isWhole = false;
    else this.#hash.update('\n').update(line);
    if (line && this.#kept.length < KEPT_MAX) this.#kept.push({ line: Buffer.from(line), place });
  }

  /** Places of the lines that a killed writer may have left. */
  get torn(): readonly LinePosition[] {
    return this.#torn;
  }

  /** Hash of the record alone. */
  get recordHash(): string {
    this.#recordHash ??= hashOf(this.#record);
    return this.#recordHash;
  }

  /** Hash of the record and the lines after it; undefined if one of them was too long to be read. */
  get hash(): string | undefined {
    if (!this.#isWhole) return undefined;
    return this.#hash === undefined ? this.recordHash : this.#hash.copy().digest('hex');
  }

  /** The line without which the next record's hash matches. */
  insertedBefore(prev: string): LinePosition | undefined {
    if (this.recordHash.startsWith(prev)) return this.first;
    const found = this.#kept.find((one) => {
      const hash = this.#begun();
      for (const each of this.#kept) if (each !== one) hash.update('\n').update(each.line);
      return hash.digest('hex').startsWith(prev);
    });
    return found?.place;
  }

  #begun(): Hash {
    return process.getBuiltinModule('node:crypto').createHash('sha256').update(this.#record);
  }
}
