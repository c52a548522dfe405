/**
 * A user's own wording of a message. One pass over the template: a value is put in where its name
 * stands, escaped for that place, and never looked at again.
 */
import { Failure } from '@runner/common/foundation/failure';
import type { Notice } from './notice.ts';

/** What a template may name, and nothing else: a name that is misspelt is refused. */
export const VARIABLES = [
  'PROJECT',
  'VERSION',
  'INSTANCE',
  'PREVIOUS_VERSION',
  'DURATION',
  'ERROR',
  'DOMAIN',
] as const;
/** Name of a variable. */
export type Variable = (typeof VARIABLES)[number];
/** What stands for each variable in one message. */
export type Values = Readonly<Record<Variable, string>>;

/** Where a value stands: this decides which of its characters would be markup. */
export type Place = 'text' | 'code' | 'pre' | 'link';

/** A piece of a template: the user's own markup, or a variable. */
export type Piece =
  | { readonly literal: string }
  | {
      readonly name: Variable;
      readonly place: Place;
      /** The fence of a code block stands right before it, where a language's name could stand. */
      readonly opens: boolean;
    };

/** Shown for a value that is not known. */
const UNKNOWN = '–';

/** Marks that begin or end a place. */
const TURNS: readonly (readonly [from: Place, mark: string, to: Place])[] = [
  ['text', '```', 'pre'],
  ['text', '`', 'code'],
  ['text', '](', 'link'],
  ['pre', '```', 'text'],
  ['code', '`', 'text'],
  ['link', ')', 'text'],
];

/**
 * Splits a template. `$${` stands for `${` itself. A backslash takes the next character's meaning,
 * inside code only where `codeEscapes` says so. Throws `config_invalid` for an unknown name.
 */
export function parseTemplate(source: string, codeEscapes: boolean): Piece[] {
  const pieces: Piece[] = [];
  let literal = '';
  let place: Place = 'text';
  const push = () => {
    if (literal !== '') pieces.push({ literal });
    literal = '';
  };
  for (let at = 0; at < source.length; ) {
    const escapable: boolean = codeEscapes || place === 'text' || place === 'link';
    const turn = TURNS.find(([from, mark]) => from === place && source.startsWith(mark, at));
    if (source.startsWith('$${', at)) {
      literal += codeEscapes && place === 'text' ? '$\\{' : '${';
      at += 3;
    } else if (source.startsWith('${', at)) {
      const opens = literal.endsWith('```') && place === 'pre';
      push();
      const name = nameAt(source, at);
      pieces.push({ name, place, opens });
      at += name.length + 3;
    } else if (source[at] === '\\' && escapable) {
      literal += source.slice(at, at + 2);
      at += 2;
    } else {
      const mark = turn?.[1] ?? (source[at] as string);
      place = turn?.[2] ?? place;
      literal += mark;
      at += mark.length;
    }
  }
  push();
  return pieces;
}

function nameAt(source: string, at: number): Variable {
  const name = /^\$\{([^}\s]{0,40})\}/.exec(source.slice(at, at + 50))?.[1];
  if (VARIABLES.includes(name as Variable)) return name as Variable;
  const shown = name === undefined ? 'a ${ without a name' : `the unknown variable \${${name}}`;
  throw new Failure('config_invalid', `the template has ${shown} (known: ${VARIABLES.join(', ')})`);
}

/** Puts the values in, each escaped for its place. */
export function fillTemplate(
  pieces: readonly Piece[],
  values: Values,
  escaped: (value: string, place: Place) => string,
): string {
  const texts = pieces.map((piece) => {
    if ('literal' in piece) return piece.literal;
    const value = escaped(values[piece.name] || UNKNOWN, piece.place);
    return piece.opens ? `\n${value}` : value;
  });
  return texts.join('');
}

/** The values of a notice; of a rollback, the error is its reason and the version before it the one left. */
export function valuesOf(notice: Notice): Values {
  const rollback = notice.kind === 'rollback';
  return {
    PROJECT: notice.project,
    VERSION: notice.version,
    INSTANCE: notice.instance,
    PREVIOUS_VERSION: (rollback && notice.fromVersion) || notice.previousVersion,
    DURATION: notice.duration,
    ERROR: rollback ? notice.reason : notice.error,
    DOMAIN: notice.domain,
  };
}
