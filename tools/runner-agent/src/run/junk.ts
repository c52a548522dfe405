/** Messages in the mailbox that are not orders. */
import type { Io } from '@runner/common/foundation/io';

/** Between two reports, in ms. */
const REPORT = 60_000;

export class Junk {
  private readonly io: Io;
  private reported = Number.NEGATIVE_INFINITY;
  /** How many were discarded since the agent started. */
  count = 0;

  constructor(io: Io) {
    this.io = io;
  }

  /** Counts one more, and reports it unless the last report is recent; each power of ten anyway. */
  add(): void {
    this.count += 1;
    const isRecent = this.io.elapsed() - this.reported < REPORT;
    if (isRecent && !/^10*$/.test(String(this.count))) return;
    this.reported = this.io.elapsed();
    this.io.stderr.write(
      `discarded a message in the mailbox that is not an order, ${this.count} so far (order_invalid)\n`,
    );
  }
}
