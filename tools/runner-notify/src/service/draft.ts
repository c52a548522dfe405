/** The messages of a notice: each service's drafts, shortened until they fit and after a refusal. */
import { type Announcement, announcementsOf } from '../message/announcement.ts';
import type { Notice } from '../message/notice.ts';
import { isTwofold, stepsOf } from '../message/steps.ts';
import { parseTemplate, type TemplatePiece } from '../message/template.ts';
import type { Message } from './contract.ts';
import type { Fields } from './fields.ts';

/**
 * A message with this share of its error, with or without markup; undefined when the service has no
 * such form or does not accept one of this length.
 */
export type Draft = (share: number, plain: boolean) => Fields | undefined;

export interface Writing {
  readonly channel: string;
  /** In this markup a backslash is an escape inside code as well. */
  readonly codeEscapes: boolean;
  /** Has a form at share 0 that the service accepts. */
  draft(announcement: Announcement, notice: Notice): Draft;
  /** The user's wording of `announcement`. Throws when it cannot be used. */
  reworded(template: readonly TemplatePiece[], notice: Notice, announcement: Announcement): Draft;
}

/** How much of the error is shown, from all of it down to nothing. */
const SHARES = [1, 0.9, 0.5, 0.25, 0];
/** The first share that is tried after a refusal, since the limit that the service applies is unknown. */
const HALF = 2;

function fitting(draft: Draft, level = 0, plain = false): Message | undefined {
  const share = SHARES[level];
  if (share === undefined) return undefined;
  const payload = draft(share, plain);
  if (!payload) return fitting(draft, level + 1, plain);
  return {
    payload,
    instead(complaint) {
      if (complaint === 'length') return fitting(draft, Math.max(level + 1, HALF), plain);
      return plain ? undefined : fitting(draft, level, true);
    },
  };
}

/** The messages of a notice, in order; `template` is the user's wording of the first. */
export function messagesOf(
  { channel, codeEscapes, draft, reworded }: Writing,
  notice: Notice,
  template: string | undefined,
  warn: (text: string) => void,
): Message[] {
  const announcements = announcementsOf(notice);
  const drafts = announcements.map((each) => draft(each, notice));
  if (template !== undefined) {
    try {
      // The reply of a failure has its error, not the edited message.
      const at = isTwofold(notice) ? 1 : 0;
      const first = announcements[at] as Announcement;
      drafts[at] = reworded(parseTemplate(template, codeEscapes), notice, first);
    } catch (error) {
      const where = `notify.templates.${notice.kind}.${channel}`;
      warn(`${where}: ${(error as Error).message}; the built-in text is sent`);
    }
  }
  const steps = notice.edited ? stepsOf(notice) : [];
  return drafts.flatMap((each, index) => {
    const message = fitting(each);
    return message ? [{ ...message, step: steps[index] }] : [];
  });
}

/** Thrown by `reworded`. */
export function tooLong(max: number): Error {
  return new Error(`the text is longer than ${max} characters`);
}
