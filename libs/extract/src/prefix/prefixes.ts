/** Cuts the prefixes off the lines of a log. */
import { severityNamed } from '../line/severity.ts';
import { LEVEL_INSIDE, NOT_SPEAKER, PREFIX_FORMS } from './forms.ts';

/** A line, and what its prefixes said. */
export interface Prefixed {
  /** The line without its prefixes. */
  readonly text: string;
  /** Who speaks; '' if no prefix says. */
  readonly speaker: string;
  /** The job and its step, where fields divided by tabs stand before the time; else ''. */
  readonly job: string;
  readonly level: string;
  readonly partial: boolean;
  /** Whether a prefix was cut off. */
  readonly cut: boolean;
}

/** What a line begins with. */
type Column = NonNullable<ReturnType<typeof columnAt>>;

/** A column of some lines. */
interface Found {
  readonly column: Column;
  readonly speaker: string;
  readonly texts: Set<string>;
  /** Lines in which nothing follows, and those in which an indented text does. */
  blank: number;
  indented: number;
  /** Whether it was made by a machine, or all of the lines have a prefix before it. */
  anchored: boolean;
}

/** Columns of one line at most. */
const COLUMNS = 12;
/** Share of a speaker's lines that must have a column that is not sure, and lines from which a share counts. */
const SHARE = 0.9;
const ENOUGH = 4;
/** Lines without a prefix after which only the first few lines of each call are looked at. */
const GIVEN_UP = 512;
const PEEK = 8;
const MADE = /[#\d]|\w-\w/;

/** The prefixes of one log: what was seen in earlier lines counts for few later ones. */
export class Prefixes {
  /** Columns that nearly all lines of a speaker had. */
  readonly #shared = new Set<string>();
  /** Those of fewer lines than show something. */
  readonly #few = new Set<string>();
  /** Those behind which the text begins. */
  readonly #ends = new Set<string>();
  /** Lines since the last prefix. */
  #without = 0;

  /** The lines without their prefixes, in their order; of no lines, if it is unlikely that any has one. */
  strip(lines: readonly string[]): Prefixed[] {
    if (this.#without > GIVEN_UP && lines.length > PEEK) {
      const some = this.#strip(lines.slice(0, PEEK));
      if (!some.some(({ cut }) => cut)) return [];
    }
    const done = this.#strip(lines);
    this.#without = done.some(({ cut }) => cut) ? 0 : this.#without + lines.length;
    return done;
  }

  #strip(lines: readonly string[]): Prefixed[] {
    const done = lines.map(bare);
    let ahead: readonly (Prefixed | undefined)[] = [...done];
    for (let place = 0; place < COLUMNS && ahead.some(Boolean); place += 1) {
      const columns = ahead.map((item) => item && columnAt(item, place));
      this.#learn(ahead, columns);
      ahead = ahead.map((item, n) => {
        const column = columns[n];
        if (item === undefined || column === undefined) return undefined;
        if (!column.sure && !this.#shared.has(column.key)) return undefined;
        const before = done[n] ?? item;
        if (this.#isPrefix(column, before.cut, item !== before))
          done[n] = column.loud ? { ...item, cut: true } : column.rest;
        return column.rest;
      });
    }
    return done;
  }

  /** Whether the column is a prefix whatever follows; else it is only if another one does. */
  #isPrefix({ key, sure, word, weak }: Column, cut: boolean, open: boolean): boolean {
    if (sure || this.#ends.has(key)) return true;
    // Words that all lines begin with may be text, and a few lines show nothing.
    return this.#few.has(key) ? cut && !weak : !word && !(weak && open);
  }

  #learn(items: readonly (Prefixed | undefined)[], columns: readonly (Column | undefined)[]): void {
    const lines = new Map<string, Set<string>>();
    const found = new Map<string, Found>();
    for (const [n, item] of items.entries()) {
      if (item === undefined || item.text.trim() === '') continue;
      const { speaker, text } = item;
      // Each text counts once: a line that is repeated shows nothing more.
      lines.set(speaker, (lines.get(speaker) ?? new Set()).add(text));
      const column = columns[n];
      if (column !== undefined) count(found, column, item);
    }
    for (const [key, own] of found) {
      const all = lines.get(own.speaker)?.size ?? 0;
      const size = own.texts.size;
      if (size < SHARE * all || (all < ENOUGH && own.column.word)) continue;
      this.#shared.add(key);
      if (all < ENOUGH) this.#few.add(key);
      else this.#few.delete(key);
      const ends = own.blank + own.indented > 0 && own.blank < SHARE * size;
      if (ends && own.anchored && all >= ENOUGH) this.#ends.add(key);
    }
  }
}

function count(found: Map<string, Found>, column: Column, { speaker, text, cut }: Prefixed): void {
  const { key, rest } = column;
  const own = found.get(key) ?? {
    column,
    speaker,
    texts: new Set(),
    blank: 0,
    indented: 0,
    anchored: cut || MADE.test(text.slice(0, text.length - rest.text.length)),
  };
  found.set(key, own);
  own.texts.add(text);
  if (rest.text.trim() === '') own.blank += 1;
  else if (/^\s/.test(rest.text)) own.indented += 1;
}

function bare(text: string): Prefixed {
  return { text, speaker: '', job: '', level: '', partial: false, cut: false };
}

function columnAt(item: Prefixed, place: number) {
  const { text } = item;
  if (text.startsWith('{')) return undefined;
  for (const { name, sure, needs, pattern } of PREFIX_FORMS) {
    if (needs !== '' && !text.includes(needs)) continue;
    pattern.lastIndex = 0;
    const found = pattern.exec(text);
    if (found === null) continue;
    // The pairs of a record are opened together.
    if (found[0].includes('=') && /[ \t](?:msg|message)=/.test(text)) return undefined;
    const { speaker = '', level, job = '', partial, inside } = found.groups ?? {};
    if (speaker !== '' && isNoSpeaker(text)) continue;
    const said = level ?? (inside ? LEVEL_INSIDE.exec(inside)?.[1] : undefined) ?? '';
    // A name behind the level is a logger's.
    const named = sure || item.level === '' ? speaker : '';
    const word = name === 'word' || name === 'brackets';
    return {
      sure,
      word,
      /** An error's level: it stays if the text follows. */
      loud: level !== undefined && !sure && severityNamed(level) === 'error',
      /** Says neither who speaks nor at which level. */
      weak: !sure && name !== 'mark' && speaker === '' && said === '',
      /** Columns of two lines are the same one if their keys are equal. */
      key: `${place} ${name} ${word ? found[0].replace(/\d+/g, '#') : ''} ${item.speaker}`,
      rest: {
        text: text.slice(found[0].length),
        speaker: item.speaker + (item.speaker && named ? ' ' : '') + named,
        job: item.job || job,
        level: item.level || said,
        partial: item.partial || partial !== undefined,
        cut: true,
      },
    };
  }
  return undefined;
}

function isNoSpeaker(text: string): boolean {
  NOT_SPEAKER.lastIndex = text.length - text.trimStart().length;
  return NOT_SPEAKER.test(text);
}
