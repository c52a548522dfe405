/** The messages that Telegram gets. */
import { codePoints, headAndTail } from '@runner/common/text/plain';
import { type Detail, TEST_TEXT, TEST_TITLE } from '../../message/announcement.ts';
import { fillTemplate, type Piece, valuesOf } from '../../message/template.ts';
import type { Message, Service } from '../../service/contract.ts';
import { type Draft, messagesOf, tooLong, type Writing } from '../../service/draft.ts';
import {
  escapeValue,
  type Markup,
  markdownV2,
  phraseText,
  plainText,
  withoutEscapes,
} from './markup.ts';

/** Code points of a text after parsing: tdlib's message_text_length_max. */
const TEXT_MAX = 4096;
/** Bytes of a text before parsing: telegram-bot-api refuses more as "text is too long". */
const RAW_MAX = 32_768;

/** A text in either markup, with its error cut to `share` of its length. */
type Text = (markup: Markup, share: number) => string;

function fits(text: Text, share: number): boolean {
  return (
    codePoints(text(plainText, share)) <= TEXT_MAX &&
    Buffer.byteLength(text(markdownV2, share)) <= RAW_MAX
  );
}

function draftOf(text: Text): Draft {
  return (share, plain) => {
    // Without its error a text always fits.
    if (share > 0 && !fits(text, share)) return undefined;
    return {
      text: text(plain ? plainText : markdownV2, share),
      ...(!plain && { parse_mode: 'MarkdownV2' }),
      link_preview_options: { is_disabled: true },
    };
  };
}

const writing: Writing = {
  channel: 'telegram',
  codeEscapes: true,
  draft: ({ icon, title, rows, block }) =>
    draftOf((markup, share) => {
      const lines = [`${icon} ${markup.bold(title)}`, ...rows.map((row) => rowLine(row, markup))];
      const shown = shareOf(block ?? '', share);
      return [...lines, ...(shown === '' ? [] : [markup.pre(shown)])].join('\n');
    }),
  reworded(pieces, notice) {
    const values = valuesOf(notice);
    const text: Text = (markup, share) => {
      const some = { ...values, ERROR: shareOf(values.ERROR, share) };
      const body =
        markup === plainText
          ? fillTemplate(plainPieces(pieces), some, (value) => value)
          : fillTemplate(pieces, some, escapeValue);
      // Every message carries the deploy_id, which is not one of the variables.
      return `${body}\n${rowLine({ label: 'Deploy', phrase: [{ value: notice.deployId }] }, markup)}`;
    };
    if (!fits(text, 0)) throw tooLong(TEXT_MAX);
    return draftOf(text);
  },
};

/** The messages of a notice; `template` is the user's wording of the first. */
export const telegramMessages: Service['messages'] = (...given) => messagesOf(writing, ...given);

function rowLine({ label, phrase }: Detail, markup: Markup): string {
  return `${markup.bold(`${label}:`)} ${phraseText(phrase, markup)}`;
}

function shareOf(text: string, share: number): string {
  return share === 1 ? text : headAndTail(text, Math.floor(codePoints(text) * share)).trim();
}

function plainPieces(pieces: readonly Piece[]): Piece[] {
  return pieces.map((piece) =>
    'literal' in piece ? { literal: withoutEscapes(piece.literal) } : { ...piece, opens: false },
  );
}

/** A test notification. */
export const TEST_MESSAGE: Message = {
  payload: {
    text: `🔔 ${markdownV2.bold(TEST_TITLE)}\n${markdownV2.words(TEST_TEXT)}`,
    parse_mode: 'MarkdownV2',
    link_preview_options: { is_disabled: true },
  },
  instead: () => undefined,
};
