/** The messages that Telegram gets. */
import { codePoints, headAndTail } from '@runner/common/text/plain';
import { type Announcement, announcementsOf, type Row } from '../../announcement.ts';
import type { Notice } from '../../notice.ts';
import { fillTemplate, type Piece, parseTemplate, type Values, valuesOf } from '../../template.ts';
import type { Message } from '../channel.ts';
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

/** A text that can be written in either markup, with its error in at most `share` of its length. */
interface Draft {
  text(markup: Markup, share: number): string;
}

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
  return drafts.flatMap((draft) => (draft ? [fitting(draft)] : []));
}

/** How much of the error is shown, from all of it down to nothing, until the text is short enough. */
const SHARES = [1, 0.5, 0.25, 0];

function fitting(draft: Draft): Message {
  const level = SHARES.findIndex((share) =>
    fits(draft.text(plainText, share), draft.text(markdownV2, share)),
  );
  return message(draft, markdownV2, level === -1 ? SHARES.length - 1 : level);
}

function fits(plain: string, raw: string): boolean {
  return codePoints(plain) <= TEXT_MAX && Buffer.byteLength(raw) <= RAW_MAX;
}

function message(draft: Draft, markup: Markup, level: number): Message {
  const text = draft.text(markup, SHARES[level] as number);
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
  return {
    text(markup, share) {
      const block = shareOf(announcement.block ?? '', share);
      const lines = [`${icon} ${markup.bold(title)}`, ...rows.map((row) => rowLine(row, markup))];
      if (block !== '') lines.push(markup.pre(block));
      return lines.join('\n');
    },
  };
}

function rowLine({ label, phrase }: Row, markup: Markup): string {
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
  const draft: Draft = {
    text(markup, share) {
      const values: Values = { ...valuesOf(notice), ERROR: shareOf(valuesOf(notice).ERROR, share) };
      const body =
        markup === plainText
          ? fillTemplate(plainPieces(pieces), values, (value) => value)
          : fillTemplate(pieces, values, escapeValue);
      // Every message carries the deploy_id, and it is none of the seven variables.
      return `${body}\n${rowLine({ label: 'Deploy', phrase: [{ value: notice.deployId }] }, markup)}`;
    },
  };
  const shortest = draft.text(markdownV2, 0);
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
