/**
 * Discord messages: a short line and one embed. The service's other limits (2000 code points of
 * content, 1024 of a field, 6000 of all embeds) are out of reach: values and logs are cut earlier.
 */
import { isStateEvent } from '@runner/common/audit/events';
import { codePoints, headAndTail } from '@runner/common/text/plain';
import {
  type Announcement,
  announcementsOf,
  type Detail,
  TEST_TEXT,
  TEST_TITLE,
} from '../../message/announcement.ts';
import type { Notice, NoticeKind } from '../../message/notice.ts';
import { fillTemplate, parseTemplate, valuesOf } from '../../message/template.ts';
import type { Message } from '../../service/contract.ts';
import type { Fields } from '../../service/fields.ts';
import { escapeValue, fence, phraseText } from './markup.ts';

/** Code points of an embed's description: discord.com/developers/docs/resources/message#embed-object-embed-limits. */
const DESCRIPTION_MAX = 4096;
/** One report says that Discord counts some characters twice. */
const MARGIN = 48;

const COLOURS: Readonly<Record<NoticeKind, number>> = {
  started: 0x3498db,
  success: 0x2ecc71,
  failure: 0xe74c3c,
  rollback: 0xf39c12,
  AppDown: 0xe74c3c,
  AppUp: 0x2ecc71,
  CheckRecovered: 0x2ecc71,
  TokenEnding: 0xf39c12,
  TokenRenewed: 0x2ecc71,
};

/** Fields that share a line. */
const INLINE = new Set([
  'Project',
  'Instance',
  'Version',
  'Branch',
  'Deploy',
  'Duration',
  'From',
  'To',
]);

/** The messages of a notice; `template` is the user's wording of the first one's description. */
export function discordMessages(
  notice: Notice,
  template: string | undefined,
  warn: (text: string) => void,
): Message[] {
  const [first, ...others] = announcementsOf(notice);
  const own = template === undefined ? undefined : ownDescription(template, notice, warn);
  const messages = [first, ...others].map(
    (announcement, index) =>
      announcement && message(notice, announcement, index === 0 ? own : undefined, 1),
  );
  return messages.filter((each) => each !== undefined);
}

/** How often a message that is refused for its length is shortened. */
const SHORTER_MAX = 3;

function message(
  notice: Notice,
  announcement: Announcement,
  own: string | undefined,
  part: number,
): Message {
  const { icon, title, headline, rows } = announcement;
  const description = own ?? described(announcement.block ?? '', part);
  return {
    payload: {
      content: `${icon} ${title}: ${phraseText(headline)}`,
      embeds: [
        {
          title: `${icon} ${title}`,
          color: COLOURS[notice.kind],
          ...(description !== '' && { description }),
          ...(own === undefined && { fields: rows.map(fieldOf) }),
          ...(!isStateEvent(notice.eventType) && { footer: { text: `deploy ${notice.deployId}` } }),
          ...(notice.timestamp !== undefined && { timestamp: notice.timestamp }),
        },
      ],
      allowed_mentions: { parse: [] },
    },
    instead(complaint) {
      if (complaint !== 'length' || part >= 2 ** SHORTER_MAX) return undefined;
      // A user's wording is not cut: half of its markup would remain.
      return message(notice, announcement, undefined, part * 2);
    },
  };
}

/** A fenced block that fits the description, even with its inner fences broken up. */
function described(block: string, part: number): string {
  if (block === '') return '';
  const total = codePoints(block);
  let size = Math.floor(total / part);
  let text = fence(part === 1 ? block : headAndTail(block, size));
  while (codePoints(text) > DESCRIPTION_MAX - MARGIN) {
    size = Math.floor(size * 0.9);
    text = fence(headAndTail(block, size));
  }
  return text;
}

function fieldOf({ label, phrase }: Detail) {
  return {
    name: label,
    value: phraseText(phrase),
    inline: INLINE.has(label),
  };
}

/** The user's wording; undefined when it is wrong or too long. */
function ownDescription(
  template: string,
  notice: Notice,
  warn: (text: string) => void,
): string | undefined {
  const where = `notify.templates.${notice.kind}.discord`;
  try {
    const text = fillTemplate(parseTemplate(template, false), valuesOf(notice), escapeValue).trim();
    if (text !== '' && codePoints(text) <= DESCRIPTION_MAX - MARGIN) return text;
    const wrong =
      text === ''
        ? 'the text is empty'
        : `the text is longer than ${DESCRIPTION_MAX - MARGIN} characters`;
    warn(`${where}: ${wrong}; the built-in text is sent`);
  } catch (error) {
    warn(`${where}: ${(error as Error).message}; the built-in text is sent`);
  }
  return undefined;
}

/** A test notification, in the colour of a deploy that starts. */
export function testMessage(): Fields {
  return {
    content: `🔔 ${TEST_TITLE}`,
    embeds: [{ title: `🔔 ${TEST_TITLE}`, description: TEST_TEXT, color: COLOURS.started }],
    allowed_mentions: { parse: [] },
  };
}
