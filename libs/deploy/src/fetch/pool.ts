/** Doing several things at once. */

/**
 * Works on up to `atOnce` items at a time; `done` gets the results in the order of the items, each as
 * soon as those before it are there. After an abort no further item begins.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  { atOnce, signal }: { readonly atOnce: number; readonly signal: AbortSignal },
  work: (item: T) => Promise<R>,
  done: (result: R) => Promise<void>,
): Promise<void> {
  const results = new Map<number, R>();
  let next = 0;
  let turn = Promise.resolve();
  const flush = async () => {
    for (let result = results.get(next); result !== undefined; result = results.get(next)) {
      next += 1;
      await done(result);
    }
  };
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) {
      if (signal.aborted) return;
      results.set(index, await work(item));
      turn = turn.then(flush);
      await turn;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
