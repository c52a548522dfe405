/** What a release is judged by: each source looks again and again, and says what it found so far. */
import type { WatchVerdict } from '@runner/common/apps/watch';
import type { WatchFinding } from './sequence.ts';

export interface WatchSource {
  /** `health of default`, `requests`. */
  readonly name: string;
  /** Between two looks, in ms. */
  readonly every: number;
  /** Looks once. Never throws. */
  look(): Promise<void> | void;
  readonly finding: WatchFinding;
  readonly words: string;
  /** That what runs has ended, in words; undefined while it runs. */
  readonly ended?: string | undefined;
  /** The last error line, which may say why something has ended. */
  readonly lastError?: string | undefined;
  /** It is what the proxy says of all versions that get requests. */
  readonly isOfProxy?: boolean;
  /** A look takes no time worth mentioning: it looks once more before a release is called bad. */
  readonly isQuick?: boolean;
  close?(): void;
}

/** Looks in a row that find nothing to read, after which that is said: a rotation takes less time. */
const LOST = 5;

/** How often a source had something to read. */
export class Presence {
  readonly #what: string;
  #looks = 0;
  #lost = 0;
  #row = 0;
  #longest = 0;

  constructor(what: string) {
    this.#what = what;
  }

  note(isThere: boolean): void {
    this.#looks += 1;
    this.#row = isThere ? 0 : this.#row + 1;
    this.#longest = Math.max(this.#longest, this.#row);
    if (!isThere) this.#lost += 1;
  }

  /** What was not there for most of the time calls nothing good. */
  finding(found: WatchFinding): WatchFinding {
    return found === 'good' && 2 * this.#lost > this.#looks ? 'open' : found;
  }

  words(found: string): string {
    if (this.#longest < LOST) return found;
    return `${found}; ${this.#what} could not be read at ${this.#lost} of ${this.#looks} looks`;
  }
}

/** What all sources say. */
export interface Judgement {
  readonly verdict: WatchVerdict;
  readonly words: string;
}

/** That a release has ended, and its last error line: why it does not answer. */
function endOf(sources: readonly WatchSource[]): string[] {
  const ended = sources.flatMap(({ name, ended: words }) => (words ? `${name}: ${words}` : []));
  if (ended.length === 0) return [];
  const lines = sources.flatMap(({ name, lastError: line }) =>
    line ? `${name}: last error line: ${line}` : [],
  );
  return [...ended, ...lines];
}

/** Bad if one source says so, good if all do; otherwise there was too little to see. */
export function judge(sources: readonly WatchSource[]): Judgement {
  const bad = sources.filter(({ finding }) => finding === 'bad');
  const all = bad.length > 0 ? bad : sources;
  const isGood = sources.length > 0 && sources.every(({ finding }) => finding === 'good');
  const verdict = bad.length > 0 ? 'bad' : isGood ? 'good' : 'not_judged';
  const wordsOf = ({ name, words, finding }: WatchSource) =>
    `${name}: ${words}${finding === 'open' ? ', too little to judge' : ''}`;
  const words = all.map(wordsOf);
  const isNew = (text: string) => !words.includes(text);
  const why = verdict === 'bad' ? endOf(sources).filter(isNew) : [];
  return { verdict, words: [...words, ...why].join('; ') || 'there is nothing to look at' };
}
