/** What a release is judged by: each source looks again and again, and says what it found so far. */
import type { WatchVerdict } from '@runner/common/apps/state';
import type { WatchFinding } from './sequence.ts';

/** One source of a watch. */
export interface WatchSource {
  /** `health of default`, `requests`. */
  readonly name: string;
  /** Between two looks, in ms. */
  readonly every: number;
  /** Looks once. Never throws. */
  look(): Promise<void> | void;
  readonly finding: WatchFinding;
  /** What was found, in words. */
  readonly words: string;
  close?(): void;
}

/** What all sources say. */
export interface Judgement {
  readonly verdict: WatchVerdict;
  readonly words: string;
}

/** Bad if one source says so, good if all do; otherwise there was too little to see. */
export function judge(sources: readonly WatchSource[]): Judgement {
  const bad = sources.filter(({ finding }) => finding === 'bad');
  const all = bad.length > 0 ? bad : sources;
  const isGood = sources.every(({ finding }) => finding === 'good');
  const verdict = bad.length > 0 ? 'bad' : isGood ? 'good' : 'not_judged';
  const wordsOf = ({ name, words, finding }: WatchSource) =>
    `${name}: ${words}${finding === 'open' ? ', too little to judge' : ''}`;
  return { verdict, words: all.map(wordsOf).join('; ') };
}
