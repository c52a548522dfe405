/** Doing several things at once, but not all of them. */

/** Runs what it is given as soon as fewer than the limit run, in the order given; undefined after an abort. */
export type Limit = <R>(work: () => Promise<R>) => Promise<R | undefined>;

/** At most `atOnce` at a time. After an abort nothing more begins. */
export function limitOf(atOnce: number, signal: AbortSignal): Limit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < atOnce) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return signal.aborted ? undefined : await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** Passes results on one after the other, each as soon as no item before it is still at work. */
export function inOrder<R>(done: (result: R) => Promise<void>) {
  const atWork = new Set<number>();
  const results = new Map<number, R>();
  let turn = Promise.resolve();
  const flush = async () => {
    for (const [at, result] of [...results].sort(([a], [b]) => a - b)) {
      if ([...atWork].some((other) => other < at)) return;
      results.delete(at);
      await done(result);
    }
  };
  /** `at` is the place of the item among all. */
  return async (at: number, work: () => Promise<R>): Promise<void> => {
    atWork.add(at);
    try {
      results.set(at, await work());
    } finally {
      atWork.delete(at);
      turn = turn.then(flush);
      await turn;
    }
  };
}
