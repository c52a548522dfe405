/**
 * Which deploys began and ended, in 8 bytes each: an id is kept as a number, in a hash table with open
 * addressing. A table that is full goes on with half of the ids; the other half is for another reading
 * of the log, so that memory has a bound whatever the log.
 */

/** What is known of a deploy. */
export const MARK = { started: 1, ended: 2, failed: 4, rolledBack: 8 } as const;

/** Ids that a reading of the log looks at: those whose hash ends, in `bits` bits, in `value`. */
export interface Part {
  readonly bits: number;
  readonly value: number;
  /** Where in the log they were given up; what stands before it has been judged. */
  readonly from: number;
}

/** All ids. */
export const WHOLE: Part = { bits: 0, value: 0, from: 0 };

const CODES = new Uint8Array(128).fill(255);
for (const [code, character] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
].entries())
  CODES[character.charCodeAt(0)] = code;

/** An id as a number of 48 bits: exact for ours, a hash for foreign ones. */
export function keyOf(id: string): number {
  let key = 0;
  for (let at = 0; at < id.length && id.length === 8; at += 1) {
    const code = CODES[id.charCodeAt(at)] ?? 255;
    if (code === 255) return hashOf(id);
    key = key * 64 + code;
  }
  return id.length === 8 ? key : hashOf(id);
}

function hashOf(id: string): number {
  let [high, low] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < id.length; at += 1) {
    high = Math.imul(high ^ id.charCodeAt(at), 0x01000193);
    low = Math.imul(low ^ id.charCodeAt(at), 0x5bd1e995) ^ (low >>> 15);
  }
  return (high >>> 16) * 2 ** 32 + (low >>> 0);
}

/** So many apps are told apart; of further ones nobody asks whose a deploy is. */
const APPS_MAX = 4095;

/** Names of apps as numbers from 1; 0 for those that are too many. */
export class AppNumbers {
  readonly #numbers = new Map<string, number>();

  of(app: string): number {
    const known = this.#numbers.get(app);
    if (known !== undefined) return known;
    if (this.#numbers.size === APPS_MAX) return 0;
    this.#numbers.set(app, this.#numbers.size + 1);
    return this.#numbers.size;
  }
}

/** 16 MiB: 1.8 million deploys are looked at in one reading. */
const SLOTS_MAX = 2 ** 21;
const SLOTS_MIN = 64;

/** The table of one reading. A slot is valid until the next one is asked for. */
export class DeployLedger {
  readonly #slotsMax: number;
  #part = WHOLE;
  /** The lower 32 bits of the key; then the upper 16, 12 for the app and 4 for the marks. */
  #low: Uint32Array;
  #rest: Uint32Array;
  #used = 0;
  /** What further readings have to look at. */
  readonly #left: Part[] = [];

  /** Made for so many deploys, and grows; `slotsMax` is a power of two. */
  constructor(deploys: number, slotsMax = SLOTS_MAX) {
    this.#slotsMax = slotsMax;
    let size = Math.min(SLOTS_MIN, slotsMax);
    while (size * 7 < deploys * 8 && size < slotsMax) size *= 2;
    this.#low = new Uint32Array(size);
    this.#rest = new Uint32Array(size);
  }

  /** Forgets all, and goes on with what a further reading has to look at; undefined when that is nothing. */
  next(): Part | undefined {
    const part = this.#left.pop();
    if (part === undefined) return undefined;
    this.#part = part;
    this.#rest.fill(0);
    this.#used = 0;
    return part;
  }

  /** The slot of a key, a new one where it has none; -1 for one that another reading looks at. */
  slot(key: number, place: number): number {
    if (this.#used * 8 >= this.#low.length * 7) this.#makeRoom(place);
    const [low, high] = [key >>> 0, Math.floor(key / 2 ** 32)];
    const hash = mix(low, high);
    if (!isIn(this.#part, hash)) return -1;
    const at = this.#find(hash, low, high);
    if (this.#rest[at] === 0) {
      this.#low[at] = low;
      this.#rest[at] = high;
      this.#used += 1;
    }
    return at;
  }

  /** The slot of a key that is known; -1 for others. */
  known(key: number): number {
    const [low, high] = [key >>> 0, Math.floor(key / 2 ** 32)];
    const at = this.#find(mix(low, high), low, high);
    return this.#rest[at] === 0 ? -1 : at;
  }

  /** Whether a deploy has the mark. */
  has(at: number, mark: number): boolean {
    return (((this.#rest[at] as number) >>> 28) & mark) !== 0;
  }

  /** Sets a mark. */
  mark(at: number, mark: number): void {
    this.#rest[at] = (this.#rest[at] as number) | (mark << 28);
  }

  /** The number of the deploy's app; the given one where none is known yet. */
  app(at: number, app: number): number {
    const known = ((this.#rest[at] as number) >>> 16) & 0xfff;
    if (known === 0) this.#rest[at] = (this.#rest[at] as number) | (app << 16);
    return known === 0 ? app : known;
  }

  /** How many deploys have begun or ended, and how many of them have begun and not ended. */
  count(): { deploys: number; open: number } {
    let [deploys, open] = [0, 0];
    for (const rest of this.#rest) {
      const marks = (rest >>> 28) & (MARK.started | MARK.ended);
      if (marks !== 0) deploys += 1;
      if (marks === MARK.started) open += 1;
    }
    return { deploys, open };
  }

  #makeRoom(place: number): void {
    if (this.#low.length < this.#slotsMax) {
      this.#rebuild(this.#low.length * 2);
      return;
    }
    const { bits, value, from } = this.#part;
    this.#part = { bits: bits + 1, value, from };
    this.#left.push({ bits: bits + 1, value: value + 2 ** bits, from: place });
    this.#rebuild(this.#low.length);
  }

  #rebuild(size: number): void {
    const lows = new Uint32Array(this.#used);
    const rests = new Uint32Array(this.#used);
    let kept = 0;
    for (const [at, rest] of this.#rest.entries()) {
      const low = this.#low[at] as number;
      if (rest === 0 || !isIn(this.#part, mix(low, rest & 0xffff))) continue;
      lows[kept] = low;
      rests[kept] = rest;
      kept += 1;
    }
    // The same arrays again where they are large enough: memory is given back late.
    if (size > this.#low.length) {
      this.#low = new Uint32Array(size);
      this.#rest = new Uint32Array(size);
    } else this.#rest.fill(0);
    this.#used = kept;
    for (const [index, rest] of rests.subarray(0, kept).entries()) {
      const [low, high] = [lows[index] as number, rest & 0xffff];
      const at = this.#find(mix(low, high), low, high);
      this.#low[at] = low;
      this.#rest[at] = rest;
    }
  }

  /** A slot is free as long as it has no mark: who takes one sets a mark. */
  #find(hash: number, low: number, high: number): number {
    const mask = this.#low.length - 1;
    let at = (hash >>> 10) & mask;
    while (
      (this.#rest[at] as number) !== 0 &&
      (this.#low[at] !== low || ((this.#rest[at] as number) & 0xffff) !== high)
    )
      at = (at + 1) & mask;
    return at;
  }
}

function mix(low: number, high: number): number {
  let hash = Math.imul(low ^ Math.imul(high + 1, 0x9e3779b1), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function isIn({ bits, value }: Part, hash: number): boolean {
  return (hash & (2 ** bits - 1)) === value;
}
