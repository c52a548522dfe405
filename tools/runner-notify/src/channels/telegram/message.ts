/** The messages that Telegram gets. */
import { codePoints, headAndTail } from '@runner/common/text/plain';
import {
  type Announcement,
  announcementsOf,
  type Detail,
  TEST_TEXT,
  TEST_TITLE,
} from '../../message/announcement.ts';
import type { Notice } from '../../message/notice.ts';
import {
  fillTemplate,
  type Piece,
  parseTemplate,
  type Values,
  valuesOf,
} from '../../message/template.ts';
import type { Message } from '../../service/contract.ts';
import type { Fields } from '../../service/fields.ts';
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
type Draft = (markup: Markup, share: number) => string;

/** The messages of a notice; `template` is the user's wording of the first. */
export function telegramMessages(
  notice: Notice,
  template: string | undefined,
  warn: (text: string) => void,
): Message[] {
  const [first, ...others] = announcementsOf(notice).map(announcementDraft);
  const drafts = [
    (template !== undefined && templateDraft(template, notice, warn)) || first,
    ...others,
  ];
  return drafts.flatMap((draft) => (draft ? [fittingMessage(draft)] : []));
}

/** How much of the error is shown, from all of it down to nothing, until the text is short enough. */
const SHARES = [1, 0.5, 0.25, 0];

function fittingMessage(draft: Draft, level = 0): Message {
  const share = SHARES[level] as number;
  const text = draft(markdownV2, share);
  const fits =
    codePoints(draft(plainText, share)) <= TEXT_MAX && Buffer.byteLength(text) <= RAW_MAX;
  if (!fits && level + 1 < SHARES.length) return fittingMessage(draft, level + 1);
  return message(draft, markdownV2, level, text);
}

function message(
  draft: Draft,
  markup: Markup,
  level: number,
  text = draft(markup, SHARES[level] as number),
): Message {
  return {
    payload: {
      text,
      ...(markup === markdownV2 && { parse_mode: 'MarkdownV2' }),
      link_preview_options: { is_disabled: true },
    },
    instead(complaint) {
      if (complaint === 'markup')
        return markup === plainText ? undefined : message(draft, plainText, level);
      return level + 1 < SHARES.length ? message(draft, markup, level + 1) : undefined;
    },
  };
}

function announcementDraft(announcement: Announcement): Draft {
  const { icon, title, rows } = announcement;
  return (markup, share) => {
    const block = shareOf(announcement.block ?? '', share);
    const lines = [`${icon} ${markup.bold(title)}`, ...rows.map((row) => rowLine(row, markup))];
    if (block !== '') lines.push(markup.pre(block));
    return lines.join('\n');
  };
}

function rowLine({ label, phrase }: Detail, markup: Markup): string {
  return `${markup.bold(`${label}:`)} ${phraseText(phrase, markup)}`;
}

function shareOf(text: string, share: number): string {
  return share === 1 ? text : headAndTail(text, Math.floor(codePoints(text) * share)).trim();
}

/** Undefined when the template is wrong or, with its values, longer than a message may be. */
function templateDraft(
  template: string,
  notice: Notice,
  warn: (text: string) => void,
): Draft | undefined {
  let pieces: Piece[];
  try {
    pieces = parseTemplate(template, true);
  } catch (error) {
    warn(
      `notify.templates.${notice.kind}.telegram: ${(error as Error).message}; the built-in text is sent`,
    );
    return undefined;
  }
  const all = valuesOf(notice);
  const draft: Draft = (markup, share) => {
    const values: Values = { ...all, ERROR: shareOf(all.ERROR, share) };
    const body =
      markup === plainText
        ? fillTemplate(plainPieces(pieces), values, (value) => value)
        : fillTemplate(pieces, values, escapeValue);
    // Every message carries the deploy_id, which is not one of the variables.
    return `${body}\n${rowLine({ label: 'Deploy', phrase: [{ value: notice.deployId }] }, markup)}`;
  };
  const shortest = draft(markdownV2, 0);
  if (codePoints(shortest) <= TEXT_MAX && Buffer.byteLength(shortest) <= RAW_MAX) return draft;
  warn(
    `notify.templates.${notice.kind}.telegram: the text is longer than ${TEXT_MAX} characters; the built-in text is sent`,
  );
  return undefined;
}

function plainPieces(pieces: readonly Piece[]): Piece[] {
  return pieces.map((piece) =>
    'literal' in piece ? { literal: withoutEscapes(piece.literal) } : { ...piece, opens: false },
  );
}

/** A test notification. */
export function testMessage(): Fields {
  return {
    text: `🔔 ${markdownV2.bold(TEST_TITLE)}\n${markdownV2.words(TEST_TEXT)}`,
    parse_mode: 'MarkdownV2',
    link_preview_options: { is_disabled: true },
  };
}
