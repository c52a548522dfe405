/** Cuts off the columns that the lines of a log share. */
import { type Column, columnAt, skipBlanks } from './columns.ts';
import { COLUMNS, GIVEN_UP, type Item, isLoud, learn, Node } from './tree.ts';

/** A line without its columns, and what they said. */
export interface Framed {
  readonly text: string;
  /** Who speaks; '' if no column says. */
  readonly speaker: string;
  /** The job and its step, where fields divided by tabs stand before the time; else ''. */
  readonly job: string;
  readonly level: string;
  /** Whether a time, a level or the like was cut off. */
  readonly framed: boolean;
  readonly partial: boolean;
}

/** Share of the lines that must have a column, and lines from which a share says something. */
const SHARE = 0.9;
const ENOUGH = 4;
/** A label counts as a speaker when it was seen this often. */
const HEARD = 3;
/** Numbers that count on from the one before are the lines'. */
const COUNTED = 2;
/** The frames of one log. Knows nothing at first; its memory is bounded. */
export class Frames {
  readonly #root = new Node();
  #last: { speaker: string; job: string } | null = null;

  /** Looks at some lines, then cuts off their frames; nothing of a line that has none. */
  strip(
    lines: readonly { readonly body: string; readonly line: number }[],
  ): (Framed | undefined)[] {
    const items = lines.map(({ body }) => ({ text: body, at: 0, column: columnAt(body, 0) }));
    // What was drawn over in a line has no dress of its own.
    const begun = items.filter((_item, n) => lines[n]?.line !== lines[n - 1]?.line);
    learn(this.#root, begun, 0);
    return items.map((item) => this.#cut(item));
  }

  #cut({ text, column: first }: Item): Framed | undefined {
    const begun = first === null ? undefined : this.#root.next.get(first.key);
    // Behind columns that have never been dress there is no need to look.
    if (begun === undefined || begun.misses > GIVEN_UP) return this.#bare(text);
    let node = this.#root;
    let best: { node: Node; at: number } | null = null;
    let loud: { best: { node: Node; at: number }; said: FrameParts } | null = null;
    let said = NOTHING;
    let pending = NOTHING;
    let at = 0;
    let timed = false;
    let numbered = false;
    let worded = false;
    for (let count = 0; count < COLUMNS; count += 1) {
      const column = count === 0 ? first : columnAt(text, at);
      const child = column === null ? undefined : node.next.get(column.key);
      if (column === null || child === undefined) break;
      const verdict = judge(column, child, node, {
        indent: column.start - at,
        anchored: best !== null,
        spoken: pending.speaker !== '',
        leveled: pending.level !== '',
        worded,
        numbered,
      });
      if (verdict === 'text') break;
      timed ||= column.key.includes('time');
      pending = withColumn(pending, column);
      at = column.end;
      numbered ||= NUMBERED.test(column.key);
      const above = node;
      node = child;
      if (verdict === 'bridge') {
        worded ||= column.trust === 'literal';
        continue;
      }
      // The level of an error stays where it is part of what is read: right before the text.
      loud =
        column.level !== undefined && isLoud(column.level) && !isConstant(child)
          ? { best: { node: above, at: column.start }, said: { ...pending, level: said.level } }
          : null;
      worded = false;
      best = { node, at };
      said = pending;
    }
    // What a program prints in several lines has its time on the first of them.
    if (loud !== null) {
      best = loud.best;
      said = loud.said;
    }
    if (best === null) {
      begun.misses += 1;
      return this.#bare(text);
    }
    begun.misses = Number.NEGATIVE_INFINITY;
    this.#last = timed ? { speaker: said.speaker, job: said.job } : null;
    const from = Math.min(skipBlanks(text, best.at), best.at + best.node.indent);
    return { ...said, text: text.slice(from), framed: true };
  }

  /** A line without a frame goes on with what the one above it was part of. */
  #bare(text: string): Framed | undefined {
    return this.#last === null ? undefined : { ...NOTHING, ...this.#last, text, framed: false };
  }
}

type FrameParts = Pick<Framed, 'speaker' | 'job' | 'level' | 'partial'>;

function withColumn(said: FrameParts, { job, speaker, level, partial, trust }: Column): FrameParts {
  if (job === undefined && speaker === undefined && level === undefined && !partial) return said;
  // A name behind the level is a logger's.
  const isName = speaker !== undefined && (said.level === '' || trust === 'sure');
  return {
    job: said.job || (job ?? ''),
    speaker: isName ? said.speaker + (said.speaker && ' ') + speaker : said.speaker,
    level: said.level || (level ?? ''),
    partial: said.partial || partial,
  };
}

function isConstant({ lines, loud }: Node): boolean {
  return lines >= ENOUGH && loud >= SHARE * lines;
}

const NOTHING: FrameParts = { speaker: '', job: '', level: '', partial: false };

/** What a column is: text, dress at which the frame may end, or dress if more of it follows. */
function judge(
  column: Column,
  child: Node,
  parent: Node,
  before: Before,
): 'text' | 'bridge' | 'dress' {
  const { trust, level, speaker, key } = column;
  const shared =
    child.lines >= SHARE * parent.lines ||
    (trust === 'heard' && before.anchored && parent.labels >= SHARE * parent.lines);
  // Indented further than the text of other lines, it is text as well.
  if (trust === 'sure' && speaker !== undefined && before.indent > parent.indent) return 'text';
  // A second speaker must be the only one there: `web | 0/5 | FAILED | …` is a table.
  if (trust === 'sure' && (speaker === undefined || !before.spoken)) return 'dress';
  if (trust !== 'shared' && trust !== 'literal' && !column.table && child.lines >= HEARD)
    return 'dress';
  if (!before.worded && child.counted >= COUNTED && child.counted >= SHARE * (parent.lines - 1))
    return 'dress';
  if (parent.lines < ENOUGH && !before.anchored) return trust === 'literal' ? 'text' : 'bridge';
  if (!shared) return 'text';
  if (parent.lines < ENOUGH) {
    // A few lines show nothing: what stands between a time and a level, say, is dress anyway.
    if (level !== undefined) return before.worded ? 'text' : 'dress';
    if (trust === 'literal') return before.leveled ? 'text' : 'bridge';
    return !before.worded && (before.leveled || key === '|' || key === '[id]') ? 'dress' : 'bridge';
  }
  if (before.anchored) {
    if (ends(child) || level !== undefined) return 'dress';
    return !before.worded && (trust !== 'literal' || NAME.test(key)) ? 'dress' : 'bridge';
  }
  // Without a time, a level or words that all lines have may be what the program says of itself.
  if (level !== undefined) return child.loud > 0 ? 'bridge' : 'dress';
  if (key === '[id]' && !before.worded) return 'dress';
  return ends(child) && (before.numbered || NUMBERED.test(key)) ? 'dress' : 'bridge';
}

/** Whether a text that may be blank or indented follows: then the dress ends here. */
function ends({ lines, blank, indented }: Node): boolean {
  return blank + indented > 0 && blank < SHARE * lines;
}

/** Made by a machine: of more than letters. */
const NUMBERED = /[#\d]|\w-\w|^id$/;
const NAME = /^(?=.*(?:#|\w-\w))[\w.#/-]{1,60}$/;

interface Before {
  /** Spaces before the column. */
  readonly indent: number;
  readonly anchored: boolean;
  readonly spoken: boolean;
  readonly leveled: boolean;
  /** Whether a word stands before it that may be text. */
  readonly worded: boolean;
  /** Whether a column before was a number or a made name. */
  readonly numbered: boolean;
}
