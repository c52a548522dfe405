/**
 * The sequential test behind every verdict. Observations are good or bad; as long as a release is as it
 * should be, at most a share `usual` of them is bad. With each observation the test may say at once that
 * the share is `broken` or more. docs/watching.md has the formula.
 *
 * Of `w(i)`, the logarithm of how much likelier observation i is with `broken` than with `usual`, it keeps
 * `M(n) = max(M(n-1), -ln(n(n+1))) + w(n)`: the best sum of those that begin at any observation, less
 * ln(k(k+1)) for a beginning at k. By Ville's inequality a sum that begins at k ever reaches
 * ln(1/alpha) + ln(k(k+1)) with a probability of at most alpha/(k(k+1)), and these add up to alpha: a good
 * release is ever called bad with a probability of at most alpha, however long it is watched.
 */

/** Largest probability with which one source ever calls a good release bad. */
export const FALSE_ALARM = 1e-4;
/** Largest probability with which a source calls a release good that was broken from the beginning (Wald). */
export const MISSED = 0.05;

/** A moment counts at most this much for `bad`: a single one, such as a second of errors, decides nothing. */
const MOMENT_MAX = 0.45 * Math.log(1 / FALSE_ALARM);

/** The shares of bad observations between which it decides, each between 0 and 1. */
export interface Shares {
  readonly usual: number;
  readonly broken: number;
}

/** What the observations so far say. */
export type WatchFinding = 'good' | 'bad' | 'open';

/** A test of one source. */
export class SequentialTest {
  readonly #bad: number;
  readonly #good: number;
  /** The sum of all, and the largest of those that begin at any moment. */
  #sum = 0;
  #largest = Number.NEGATIVE_INFINITY;
  #moments = 0;
  count = 0;
  failed = 0;

  constructor({ usual, broken }: Shares) {
    this.#bad = Math.log(broken / usual);
    this.#good = Math.log((1 - broken) / (1 - usual));
  }

  /** What one moment brought: `failed` of `all` observations. */
  add(failed: number, all: number): void {
    if (all === 0) return;
    this.#moments += 1;
    this.count += all;
    this.failed += failed;
    const weight = failed * this.#bad + (all - failed) * this.#good;
    this.#sum += weight;
    const begun = -Math.log(this.#moments * (this.#moments + 1));
    this.#largest = Math.max(this.#largest, begun) + Math.min(weight, MOMENT_MAX);
  }

  get finding(): WatchFinding {
    if (this.#largest >= Math.log(1 / FALSE_ALARM)) return 'bad';
    return this.#sum <= Math.log(MISSED) ? 'good' : 'open';
  }
}

/**
 * The largest share that `failed` of `all` observations are still compatible with, once in a thousand:
 * the upper end of Wilson's interval.
 */
export function upperShare(failed: number, all: number): number {
  if (all === 0) return 1;
  const z = 3.09;
  const share = failed / all;
  const spread = z * Math.sqrt((share * (1 - share)) / all + (z * z) / (4 * all * all));
  return Math.min(1, (share + (z * z) / (2 * all) + spread) / (1 + (z * z) / all));
}
