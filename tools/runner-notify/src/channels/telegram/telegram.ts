/** The bot chat service. */
import type { NotifySettings } from '@runner/common/config';
import type { HttpAnswer } from '@runner/common/http';
import type { Channel, Message, Outcome } from '../channel.ts';
import { type Line, post } from '../exchange.ts';
import { judgeTelegram, migratedTo } from './answer.ts';
import { telegramMessages } from './message.ts';

/**
 * REQUIREMENTS 8 and core.telegram.org/bots/faq: 30 messages per second over all chats. The limits
 * of one chat (1 per second, 20 per minute in a group) allow bursts and are told by 429.
 */
const RATES = [{ count: 30, per: 1_000 }];

/** Announces in one chat, or in one topic of it. */
export function telegram(
  settings: NonNullable<NotifySettings['telegram']>,
  template: NotifySettings['template'],
  line: Omit<Line, 'method'>,
): Channel {
  const { apiUrl, botToken, threadId } = settings;
  let { chatId } = settings;
  const sendMessage = (message: Message, judge: (answer: HttpAnswer) => Outcome) =>
    post(
      { ...line, method: 'sendMessage' },
      `${apiUrl}/bot${botToken.reveal()}/sendMessage`,
      {
        chat_id: chatId,
        ...(threadId !== undefined && { message_thread_id: threadId }),
        ...message.payload,
      },
      judge,
    );
  const judge = (answer: HttpAnswer) => judgeTelegram({ ...line, method: 'sendMessage' }, answer);
  return {
    name: 'telegram',
    rates: RATES,
    render: (notice, warn) => telegramMessages(notice, template(notice.kind, 'telegram'), warn),
    async deliver(message) {
      let movedTo: string | undefined;
      const outcome = await sendMessage(message, (answer) => {
        movedTo = migratedTo(answer);
        return judge(answer);
      });
      if (movedTo === undefined) return outcome;
      // The group was upgraded to a supergroup: from now on it is known by its new id.
      chatId = movedTo;
      const again = await sendMessage(message, judge);
      return again.class === 'delivered' ? { ...again, movedTo } : again;
    },
  };
}
