/** A service whose message is one text: lines of labels and values, then the error as a block. */
import { codePoints, headAndTail } from '@runner/common/text/plain';
import type { Announcement, Detail, Phrase } from '../message/announcement.ts';
import type { Notice } from '../message/notice.ts';
import { fillTemplate, type Slot, type TemplatePiece, valuesOf } from '../message/template.ts';
import { type Draft, tooLong, type Writing } from './draft.ts';
import type { Fields } from './fields.ts';

/** A way to write constant words, values and blocks of text. */
export interface Markup {
  words(text: string): string;
  bold(text: string): string;
  code(value: string): string;
  pre(text: string): string;
  /** `url` is https. */
  link(text: string, url: string): string;
}

const same = (text: string) => text;
/** For a service without markup, and for a text whose formatting was refused. */
const plainText: Markup = {
  words: same,
  bold: same,
  code: same,
  pre: same,
  link: (_, url) => url,
};

/** Words stay words, values become code. */
export function phraseText(
  phrase: Phrase,
  markup: Pick<Markup, 'words' | 'code' | 'link'> = plainText,
): string {
  return phrase
    .map((part) => {
      if (typeof part === 'string') return markup.words(part);
      return part.url === undefined ? markup.code(part.value) : markup.link(part.value, part.url);
    })
    .join('');
}

/** How a service takes a text. */
export interface TextForm extends Pick<Writing, 'channel' | 'codeEscapes'> {
  readonly markup: Markup;
  /** The title is a separate field: the text does not begin with it. */
  readonly titled: boolean;
  /** A value escaped for its slot of a template. */
  escapeValue(value: string, slot: Slot): string;
  /** A template's literal text in plain form. */
  plainLiteral(literal: string): string;
  /** The longest text, for the message about a template that is longer. */
  readonly max: number;
  /** Whether the service takes a text of this length, in both forms. */
  fits(marked: string, plain: string): boolean;
  /** The body of the request. */
  payload(shown: ShownText): Fields;
}

/** A text as it is sent: `plain` without markup, `share` of the error shown. */
interface ShownText {
  readonly text: string;
  readonly plain: boolean;
  readonly share: number;
  readonly about: Announcement;
  readonly notice: Notice;
}

/** A text in either markup, with its error cut to `share` of its length. */
type Text = (markup: Markup, share: number) => string;

/** The drafts of a service whose message is one text. */
export function textWriting(form: TextForm): Writing {
  const draftOf =
    (text: Text, about: Announcement, notice: Notice): Draft =>
    (share, plain) => {
      if (plain && form.markup === plainText) return undefined;
      // Without its error a text always fits.
      if (share > 0 && !form.fits(text(form.markup, share), text(plainText, share)))
        return undefined;
      const shown = text(plain ? plainText : form.markup, share);
      return form.payload({ text: shown, plain, share, about, notice });
    };
  return {
    channel: form.channel,
    codeEscapes: form.codeEscapes,
    draft: (about, notice) =>
      draftOf((markup, share) => composed(about, markup, share, form.titled), about, notice),
    reworded(pieces, notice, about) {
      const values = valuesOf(notice);
      const text: Text = (markup, share) => {
        const some = { ...values, ERROR: shareOf(values.ERROR, share) };
        const body =
          markup === plainText
            ? fillTemplate(plainPieces(pieces, form), some, same)
            : fillTemplate(pieces, some, form.escapeValue);
        // Every message carries the deploy_id, which is not one of the variables.
        return `${body}\n${rowLine({ label: 'Deploy', phrase: [{ value: notice.deployId }] }, markup)}`;
      };
      if (!form.fits(text(form.markup, 0), text(plainText, 0))) throw tooLong(form.max);
      return draftOf(text, about, notice);
    },
  };
}

function composed(about: Announcement, markup: Markup, share: number, titled: boolean): string {
  const { icon, title, rows, block } = about;
  const shown = shareOf(block ?? '', share);
  return [
    ...(titled ? [] : [`${icon} ${markup.bold(title)}`]),
    ...rows.map((row) => rowLine(row, markup)),
    ...(shown === '' ? [] : [markup === plainText && titled ? `\n${shown}` : markup.pre(shown)]),
  ].join('\n');
}

function rowLine({ label, phrase }: Detail, markup: Markup): string {
  return `${markup.bold(`${label}:`)} ${phraseText(phrase, markup)}`;
}

function shareOf(text: string, share: number): string {
  return share === 1 ? text : headAndTail(text, Math.floor(codePoints(text) * share)).trim();
}

function plainPieces(
  pieces: readonly TemplatePiece[],
  { plainLiteral }: TextForm,
): TemplatePiece[] {
  return pieces.map((piece) =>
    'literal' in piece ? { literal: plainLiteral(piece.literal) } : { ...piece, opens: false },
  );
}

/** A form without markup: values stand as they are. */
export const PLAIN: Pick<TextForm, 'markup' | 'codeEscapes' | 'escapeValue' | 'plainLiteral'> = {
  markup: plainText,
  codeEscapes: false,
  escapeValue: same,
  plainLiteral: same,
};

/** The beginning of a text, at most `max` bytes. */
export function cutBytes(text: string, max: number): string {
  if (Buffer.byteLength(text) <= max) return text;
  let end = 0;
  let size = 0;
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > max - 3) break;
    end += character.length;
  }
  return `${text.slice(0, end)}…`;
}
