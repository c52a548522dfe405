/**
 * What Telegram does with a parsed text before it is sent: characters are cleaned, entities are
 * brought into order, white space at both ends goes. Offsets are UTF-16, as everywhere in its API.
 */

/** Telegram's names of what text can be. */
export type EntityType =
  | 'Bold'
  | 'Italic'
  | 'Underline'
  | 'Strikethrough'
  | 'Spoiler'
  | 'Code'
  | 'Pre'
  | 'PreCode'
  | 'TextUrl'
  | 'MentionName'
  | 'CustomEmoji'
  | 'BlockQuote'
  | 'ExpandableBlockQuote';

/** A part of a text that is more than text. */
export interface Entity {
  readonly type: EntityType;
  readonly offset: number;
  readonly length: number;
  /** Address of a link, language of a block of code, id of a user or an emoji. */
  readonly argument?: string;
}

/** A text without its markup, and what the markup said. */
export interface Formatted {
  readonly text: string;
  readonly entities: readonly Entity[];
}

/** A text that Telegram cannot parse; the message is its own, without any prefix. */
export class ParseError extends Error {}

/** Styles may overlap each other and are cut where others begin; all other entities are whole. */
const STYLES = ['Bold', 'Italic', 'Underline', 'Strikethrough', 'Spoiler'] as const;
const QUOTES: readonly EntityType[] = ['BlockQuote', 'ExpandableBlockQuote'];
const CODES: readonly EntityType[] = ['Code', 'Pre', 'PreCode'];

/** Of entities with the same place the outer comes first. */
const OUTERMOST_FIRST: readonly EntityType[] = [
  ...QUOTES,
  'PreCode',
  'Pre',
  'Code',
  'TextUrl',
  'MentionName',
  ...STYLES,
  'CustomEmoji',
];

const endOf = (entity: Entity) => entity.offset + entity.length;

function isStyle(entity: Entity): boolean {
  return (STYLES as readonly EntityType[]).includes(entity.type);
}

/** By place, the longer first. */
export function sortEntities(entities: readonly Entity[]): Entity[] {
  const rank = (entity: Entity) => OUTERMOST_FIRST.indexOf(entity.type);
  return [...entities].sort(
    (a, b) => a.offset - b.offset || b.length - a.length || rank(a) - rank(b),
  );
}

/** Of entities that overlap only the first stays. */
function withoutOverlaps(sorted: readonly Entity[]): Entity[] {
  let end = 0;
  return sorted.filter((entity) => {
    if (entity.offset < end) return false;
    end = endOf(entity);
    return true;
  });
}

function crosses(entity: Entity, quote: Entity): boolean {
  const apart = endOf(entity) <= quote.offset || endOf(quote) <= entity.offset;
  return !apart && (entity.offset < quote.offset || endOf(quote) < endOf(entity));
}

/** The stretches of one style; those that touch are one. */
function runsOf(type: EntityType, sorted: readonly Entity[]): Entity[] {
  const runs: Entity[] = [];
  for (const entity of sorted) {
    if (entity.type !== type) continue;
    const last = runs.at(-1);
    if (last !== undefined && entity.offset <= endOf(last)) {
      const length = Math.max(endOf(last), endOf(entity)) - last.offset;
      runs[runs.length - 1] = { type, offset: last.offset, length };
    } else runs.push({ type, offset: entity.offset, length: entity.length });
  }
  return runs;
}

/** Brings entities into the order and the pieces in which Telegram keeps them. */
function normalise(entities: readonly Entity[]): Entity[] {
  const sorted = sortEntities(entities.filter((entity) => entity.length > 0));
  const quotes = withoutOverlaps(sorted.filter(({ type }) => QUOTES.includes(type)));
  const wholes = withoutOverlaps(
    sorted.filter((entity) => !isStyle(entity) && !QUOTES.includes(entity.type)),
  ).filter((entity) => !quotes.some((quote) => crosses(entity, quote)));
  const fixed = [...quotes, ...wholes];
  const runs = STYLES.flatMap((type) => runsOf(type, sorted));
  const cuts = [...runs, ...fixed].map(({ offset }) => offset).concat(fixed.map(endOf));
  const pieces = runs.flatMap((run) => {
    const inside = cuts.filter((cut) => run.offset < cut && cut < endOf(run));
    const edges = [...new Set([run.offset, ...inside, endOf(run)])].sort((a, b) => a - b);
    return edges.slice(1).map((end, index): Entity => {
      const offset = edges[index] as number;
      return { type: run.type, offset, length: end - offset };
    });
  });
  // Nothing has a style inside code.
  const codes = wholes.filter(({ type }) => CODES.includes(type));
  const visible = pieces.filter(
    (piece) => !codes.some((code) => code.offset <= piece.offset && endOf(piece) <= endOf(code)),
  );
  return sortEntities([...fixed, ...visible]);
}

/** Carriage returns, line and direction marks, and three marks that draw over their neighbours. */
const REMOVED = /\r|[\u2028-\u202e]|\u0333|\u033f|\u030a/;

/** Control characters become spaces, REMOVED ones go; entities keep to their characters. */
function clean({ text, entities }: Formatted): Formatted {
  const places: number[] = [];
  let cleaned = '';
  for (const unit of text) {
    for (let n = 0; n < unit.length; n += 1) places.push(cleaned.length + n);
    if (REMOVED.test(unit)) places[places.length - 1] = cleaned.length;
    else cleaned += unit < ' ' && unit !== '\n' ? ' ' : unit;
  }
  places.push(cleaned.length);
  const moved = entities.map((entity) => {
    const offset = places[entity.offset] as number;
    return { ...entity, offset, length: (places[endOf(entity)] as number) - offset };
  });
  return { text: cleaned, entities: moved };
}

/** At the start no entity loses a character, at the end all do. Only space and newline count. */
function trim({ text, entities }: Formatted): Formatted {
  const end = text.replace(/[ \n]+$/, '').length;
  const kept = entities
    .filter((entity) => entity.offset < end)
    .map((entity) => ({ ...entity, length: Math.min(endOf(entity), end) - entity.offset }));
  const sorted = sortEntities(kept);
  const leading = /^[ \n]*/.exec(text)?.[0].length ?? 0;
  const start = Math.min(leading, sorted[0]?.offset ?? end, end);
  return {
    text: text.slice(start, end),
    entities: sorted.map((entity) => ({ ...entity, offset: entity.offset - start })),
  };
}

/** What arrives of a parsed text. Throws ParseError when nothing but white space would. */
export function finish(parsed: Formatted): Formatted {
  const cleaned = clean({ text: parsed.text, entities: normalise(parsed.entities) });
  if (/^[ \n]*$/.test(cleaned.text)) throw new ParseError('Text must be non-empty');
  return trim({ text: cleaned.text, entities: normalise(cleaned.entities) });
}
