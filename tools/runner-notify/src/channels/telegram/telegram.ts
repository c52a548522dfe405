/** The bot chat service. */

import type { NotifySettings } from '@runner/common/config/settings';
import type { HttpAnswer } from '@runner/common/http/request';
import type { Channel, Message, Outcome, Rate } from '../channel.ts';
import { type Line, post } from '../exchange.ts';
import { judgeTelegram, migratedTo } from './answer.ts';
import { telegramMessages } from './message.ts';

/** core.telegram.org/bots/faq: 30 messages per second over all chats, 1 in one chat. */
const RATES: readonly Rate[] = [
  { count: 30, per: 1_000 },
  { count: 1, per: 1_000 },
];
/** Of a group or channel, from the same page. Their ids are negative or names. */
const GROUP_RATE: Rate = { count: 20, per: 60_000 };

/** Announces in one chat, or in one topic of it. */
export function telegram(
  settings: NonNullable<NotifySettings['telegram']>,
  template: NotifySettings['template'],
  line: Omit<Line, 'method'>,
): Channel {
  const { apiUrl, botToken, threadId } = settings;
  let { chatId } = settings;
  /** Where the chat has moved, until somebody was told. */
  let moved: string | undefined;
  const sendMessage = (
    message: Message,
    timeout: number | undefined,
    judge: (answer: HttpAnswer) => Outcome,
  ) =>
    post(
      { ...line, method: 'sendMessage' },
      `${apiUrl}/bot${botToken.reveal()}/sendMessage`,
      {
        chat_id: chatId,
        ...(threadId !== undefined && { message_thread_id: threadId }),
        ...message.payload,
      },
      judge,
      timeout,
    );
  const judge = (answer: HttpAnswer) => judgeTelegram({ ...line, method: 'sendMessage' }, answer);
  return {
    name: 'telegram',
    rates: /^\d+$/.test(chatId) ? RATES : [...RATES, GROUP_RATE],
    render: (notice, warn) => telegramMessages(notice, template(notice.kind, 'telegram'), warn),
    async deliver(message, timeout) {
      let movedTo: string | undefined;
      let outcome = await sendMessage(message, timeout, (answer) => {
        movedTo = migratedTo(answer);
        return judge(answer);
      });
      if (movedTo !== undefined) {
        // The group was upgraded to a supergroup: from now on it is known by its new id.
        chatId = movedTo;
        moved = movedTo;
        outcome = await sendMessage(message, timeout, judge);
      }
      if (outcome.class !== 'delivered' || moved === undefined) return outcome;
      const told = { ...outcome, movedTo: moved };
      moved = undefined;
      return told;
    },
  };
}
