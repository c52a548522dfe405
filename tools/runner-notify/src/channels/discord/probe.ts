/** What Discord tells about a webhook. */
import type { Secret } from '@runner/common/secrets/secret';
import { wordOf } from '../fields.ts';
import { type Probe, TEST_TEXT, TEST_TITLE } from '../probe.ts';
import { question, type Wire } from '../reply.ts';
import { judgeDiscord } from './answer.ts';
import { executionAddress } from './discord.ts';

/** Blue, as that of a deploy that begins. */
const COLOUR = 0x3498db;

/** Asks about the configured webhook. The answer to GET holds the secret: only parts of it are kept. */
export function discordProbe({ webhook }: { readonly webhook: Secret }, wire: Wire): Probe {
  return {
    async inspect() {
      const url = new URL(executionAddress(webhook.reveal()));
      url.search = '';
      const line = { ...wire, method: 'GET webhook' };
      const reply = await question(line, url.href, { method: 'GET' }, judgeDiscord, (body) => ({
        id: wordOf(body.id),
        name: wordOf(body.name),
        channel_id: wordOf(body.channel_id),
      }));
      return 'problem' in reply
        ? { healthy: false, facts: {}, advice: [], problem: reply.problem }
        : { healthy: true, facts: { webhook: reply.value }, advice: [] };
    },
    async sendTest() {
      const method = 'POST webhook';
      const reply = await question(
        { ...wire, method },
        executionAddress(webhook.reveal()),
        { method: 'POST', body: testMessage() },
        judgeDiscord,
        (body) => ({
          message_id: wordOf(body.id),
          channel_id: wordOf(body.channel_id),
        }),
      );
      if ('problem' in reply) return { delivered: false, problem: reply.problem };
      return { delivered: true, method, httpStatus: reply.httpStatus, answer: reply.value };
    },
  };
}

function testMessage() {
  return {
    content: `🔔 ${TEST_TITLE}`,
    embeds: [{ title: `🔔 ${TEST_TITLE}`, description: TEST_TEXT, color: COLOUR }],
    allowed_mentions: { parse: [] },
  };
}
