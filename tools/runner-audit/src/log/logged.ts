/** Which records the log has already: a pipe may bring back what this server wrote. */
import { hashOf, linkOf, unlinked } from '@runner/common/audit/chain';
import { type LogRecord, readRecord } from '@runner/common/audit/record';
import { chainedLines } from '@runner/common/audit/tip';
import type { Paths } from '@runner/common/foundation/paths';

/** Records after one that had to wait: without a place in the chain, it is looked for among these. */
const LATE = 1_000;

/** Reads the log from its end, as far back as the records that it is asked for. */
export class LoggedRecords {
  readonly #paths: Paths;
  readonly #hashes = new Set<string>();
  /** Numbers of the records that were read. */
  #newest = 0;
  #oldest = Number.POSITIVE_INFINITY;
  /** The end of the log was read since the last batch. */
  #isNew = false;

  constructor(paths: Paths) {
    this.#paths = paths;
  }

  /** What is asked for next may have been written meanwhile, but before it came through the pipe. */
  newBatch(): void {
    this.#isNew = false;
  }

  /** Whether a record stands in the log like this. Only one that a log printed is looked up. */
  has(record: LogRecord): boolean {
    const seq = linkOf(record)?.seq;
    if (seq === undefined && record.late !== true) return false;
    this.#read(seq);
    return this.#hashes.has(identityOf(record));
  }

  #read(wanted: number | undefined): void {
    // Records in another order than the log's: read all of it, once.
    const isOld = wanted !== undefined && wanted <= this.#newest;
    const isEarlier = isOld && wanted < this.#oldest;
    if (!isEarlier && (isOld || this.#isNew)) return;
    this.#isNew = true;
    const known = isEarlier ? 0 : this.#newest;
    let newest = 0;
    for (const line of chainedLines(this.#paths)) {
      const record = readRecord(line) ?? {};
      const seq = linkOf(record)?.seq;
      if (seq === undefined) continue;
      newest ||= seq;
      const least = isEarlier ? 1 : known || (wanted ?? newest - LATE);
      if (seq < least || seq === known) break;
      this.#hashes.add(identityOf(record));
      this.#oldest = Math.min(this.#oldest, seq);
    }
    if (isEarlier) this.#oldest = 1;
    this.#newest = Math.max(this.#newest, newest);
  }
}

/** Of its fields, but for its place in the chain and its second names. */
function identityOf(record: LogRecord): string {
  const { event_type, project, event = event_type, app = project, ...fields } = unlinked(record);
  return hashOf(JSON.stringify({ ...fields, event, app }));
}
