/**
 * Which deploys began and ended, in 16 bytes each: an id is kept as a number, in a hash table with open
 * addressing, so that a log of millions of deploys fits into memory.
 */

/** Where a record stands: the number of its file and its line. */
export interface Place {
  readonly file: number;
  readonly line: number;
}

const STARTED = 1;
const ENDED = 2;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const OURS = /^[A-Za-z0-9_-]{8}$/;
const OUR_IDS = 2 ** 48;

/** An id as a number from 1: exact for ours, which are 48 bits; a hash of 52 bits for foreign ones. */
export function keyOf(id: string): number {
  if (OURS.test(id)) {
    let key = 0;
    for (const character of id) key = key * 64 + ALPHABET.indexOf(character);
    return key + 1;
  }
  let [high, low] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < id.length; at += 1) {
    high = Math.imul(high ^ id.charCodeAt(at), 0x01000193);
    low = Math.imul(low ^ id.charCodeAt(at), 0x5bd1e995);
  }
  return OUR_IDS + 1 + (high >>> 13) * 2 ** 32 + (low >>> 0);
}

/** The id that a number stands for; undefined for a foreign one. */
function idOf(key: number): string | undefined {
  if (key > OUR_IDS) return undefined;
  let id = '';
  for (let rest = key - 1, digit = 0; digit < 8; digit += 1) {
    id = ALPHABET.charAt(rest % 64) + id;
    rest = Math.floor(rest / 64);
  }
  return id;
}

/** Remembers of each deploy where it began and that it ended. */
export class DeployLedger {
  #keys = new Float64Array(1024);
  #lines = new Uint32Array(1024);
  #files = new Uint16Array(1024);
  #marks = new Uint8Array(1024);
  #used = 0;

  /** How many deploys are known. */
  get count(): number {
    return this.#used;
  }

  /** Notes a start; false when this deploy had one already. */
  start(id: string, { file, line }: Place): boolean {
    const at = this.#slot(keyOf(id));
    if (this.#has(at, STARTED)) return false;
    this.#mark(at, STARTED);
    this.#files[at] = file;
    this.#lines[at] = line;
    return true;
  }

  /** Notes an end; tells whether the deploy had begun and whether it had ended already. */
  end(id: string): { started: boolean; ended: boolean } {
    const at = this.#slot(keyOf(id));
    const before = { started: this.#has(at, STARTED), ended: this.#has(at, ENDED) };
    this.#mark(at, ENDED);
    return before;
  }

  /** Deploys that began and did not end, in the order of their starts. */
  *open(): Generator<Place & { key: number; id: string | undefined }> {
    const slots = new Uint32Array(this.#used);
    let count = 0;
    for (const [at, mark] of this.#marks.entries()) if (mark === STARTED) slots[count++] = at;
    const placeOf = (at: number) =>
      (this.#files[at] as number) * 2 ** 32 + (this.#lines[at] as number);
    for (const at of slots.subarray(0, count).sort((a, b) => placeOf(a) - placeOf(b))) {
      const key = this.#keys[at] as number;
      yield {
        key,
        id: idOf(key),
        file: this.#files[at] as number,
        line: this.#lines[at] as number,
      };
    }
  }

  #has(at: number, mark: number): boolean {
    return ((this.#marks[at] as number) & mark) !== 0;
  }

  #mark(at: number, mark: number): void {
    this.#marks[at] = (this.#marks[at] as number) | mark;
  }

  /** The place of a key, a new one where it has none. */
  #slot(key: number): number {
    if (this.#used * 4 > this.#keys.length * 3) this.#grow();
    const at = find(this.#keys, key);
    if (this.#keys[at] === 0) {
      this.#keys[at] = key;
      this.#used += 1;
    }
    return at;
  }

  #grow(): void {
    const [keys, lines, files, marks] = [this.#keys, this.#lines, this.#files, this.#marks];
    const size = keys.length * 2;
    this.#keys = new Float64Array(size);
    this.#lines = new Uint32Array(size);
    this.#files = new Uint16Array(size);
    this.#marks = new Uint8Array(size);
    for (const [old, key] of keys.entries()) {
      if (key === 0) continue;
      const at = find(this.#keys, key);
      this.#keys[at] = key;
      this.#lines[at] = lines[old] as number;
      this.#files[at] = files[old] as number;
      this.#marks[at] = marks[old] as number;
    }
  }
}

function find(keys: Float64Array, key: number): number {
  const mask = keys.length - 1;
  let at = Math.imul((key % 4_294_967_291) | 0, 0x9e3779b1) >>> 7;
  for (at &= mask; keys[at] !== 0 && keys[at] !== key; ) at = (at + 1) & mask;
  return at;
}
