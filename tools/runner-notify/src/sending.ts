/** Announces the records on standard input, in their order, while more of them arrive. */
import type { Context } from '@runner/common/cli/command';
import { clockOf } from './clock.ts';
import { type Delivery, type DeliveryOptions, openDelivery, type Result } from './delivery.ts';
import { chunksOf, linesOf } from './records.ts';

/** What came of all records. */
export interface Announced {
  readonly results: readonly Result['result'][];
  /** Every line was a record, and none was lost. */
  readonly sound: boolean;
}

/** Prints one result per record and channel. Throws `config_invalid` at the first record. */
export async function announceAll(
  context: Pick<Context, 'io' | 'paths' | 'title' | 'note' | 'print'>,
  options: Pick<DeliveryOptions, 'wait' | 'channel' | 'dryRun'>,
): Promise<Announced> {
  const { io, paths, title, note } = context;
  const results: Result['result'][] = [];
  let delivery: Delivery | undefined;
  let broken = false;
  // Results are printed in the order of the records, whichever channel is faster.
  let printed: Promise<void> = Promise.resolve();
  for await (const line of linesOf(chunksOf(io.stdin.fd))) {
    if ('problem' in line) {
      note(`line ${line.number}: ${line.problem}`);
      broken = true;
      continue;
    }
    // A file that is wrong stops nobody who has nothing to announce.
    delivery ??= openDelivery({ io, paths, clock: clockOf(io), title, note, ...options });
    const announced = await delivery.announce(line.record);
    printed = Promise.all([announced.results, printed]).then(async ([found]) => {
      for (const result of found) {
        results.push(result.result);
        await context.print(result);
      }
    });
    // Told when it is awaited, below.
    printed.catch(() => {});
    // Reading must not keep the deliveries from going on.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await printed;
  return { results, sound: !broken && !delivery?.lostSome };
}
