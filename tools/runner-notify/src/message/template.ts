/**
 * A user's own wording of a message. One pass over the template: each value is escaped for the slot it
 * fills, and its text is never parsed again.
 */
import { Failure } from '@runner/common/foundation/failure';
import type { Notice } from './notice.ts';

/** The only names that a template may use: a misspelt one is refused. */
export const VARIABLES = [
  'PROJECT',
  'VERSION',
  'INSTANCE',
  'PREVIOUS_VERSION',
  'DURATION',
  'ERROR',
  'DOMAIN',
  'CHANGES',
  'AUTHOR',
] as const;
/** Name of a variable. */
export type Variable = (typeof VARIABLES)[number];
export type Values = Readonly<Record<Variable, string>>;

/** Where a value stands: decides which of its characters would be markup. */
export type Slot = 'text' | 'code' | 'pre' | 'link';

/** A piece of a template: the user's own markup, or a variable. */
export type TemplatePiece =
  | { readonly literal: string }
  | {
      readonly name: Variable;
      readonly slot: Slot;
      /** It follows the fence of a code block directly, where the name of a language could stand. */
      readonly opens: boolean;
    };

/** Shown for an unknown value. */
const UNKNOWN = '–';

/** A slot, or the address between angle brackets of Slack and Discord. */
type MarkPlace = Slot | 'angle';
/** Marks that begin or end a slot. */
const TURNS: readonly (readonly [from: MarkPlace, mark: string, to: MarkPlace])[] = [
  ['text', '```', 'pre'],
  ['text', '`', 'code'],
  ['text', '](', 'link'],
  ['pre', '```', 'text'],
  ['code', '`', 'text'],
  ['link', ')', 'text'],
];
const ANGLES: typeof TURNS = [
  ['text', '<http', 'angle'],
  ['angle', '|', 'text'],
  ['angle', '>', 'text'],
];

/**
 * Splits a template. `$${` stands for `${`. A backslash escapes the next character, inside code only
 * with `codeEscapes`. Throws `config_invalid` for an unknown name.
 */
export function parseTemplate(source: string, codeEscapes: boolean): TemplatePiece[] {
  const pieces: TemplatePiece[] = [];
  let literal = '';
  let slot: MarkPlace = 'text';
  // In Telegram an angle bracket is text.
  const turns = codeEscapes ? TURNS : [...TURNS, ...ANGLES];
  const push = () => {
    if (literal !== '') pieces.push({ literal });
    literal = '';
  };
  for (let at = 0; at < source.length; ) {
    const escapable: boolean = codeEscapes || slot === 'text' || slot === 'link';
    const turn = turns.find(([from, mark]) => from === slot && source.startsWith(mark, at));
    if (source.startsWith('$${', at)) {
      literal += codeEscapes && slot === 'text' ? '$\\{' : '${';
      at += 3;
    } else if (source.startsWith('${', at)) {
      const opens = literal.endsWith('```') && slot === 'pre';
      push();
      const name = nameAt(source, at);
      pieces.push({ name, slot: slot === 'angle' ? 'link' : slot, opens });
      at += name.length + 3;
    } else if (source[at] === '\\' && escapable) {
      literal += source.slice(at, at + 2);
      at += 2;
    } else {
      const mark = turn?.[1] ?? (source[at] as string);
      slot = turn?.[2] ?? slot;
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

/** Puts the values in, each escaped for its slot. */
export function fillTemplate(
  pieces: readonly TemplatePiece[],
  values: Values,
  escaped: (value: string, slot: Slot) => string,
): string {
  const texts = pieces.map((piece) => {
    if ('literal' in piece) return piece.literal;
    const value = escaped(values[piece.name] || UNKNOWN, piece.slot);
    return piece.opens ? `\n${value}` : value;
  });
  return texts.join('');
}

/** The values of a notice; a rollback's error is its reason, its previous version the one it left. */
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
    CHANGES: notice.changes?.subjects.join(' · ') ?? '',
    AUTHOR: notice.changes?.authors.join(', ') ?? '',
  };
}
