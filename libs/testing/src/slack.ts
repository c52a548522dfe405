/** One incoming webhook of Slack, with the service's rules and words. */
import { type Loopback, readBody, startLoopback } from './loopback.ts';

/** A message as the webhook took it. */
export interface SlackMessage {
  readonly payload: Readonly<Record<string, unknown>>;
  /** As a reader sees it: entities replaced, markup left. */
  readonly shown: string;
  /** What would call people, a group or a channel. */
  readonly mentions: readonly string[];
}

export interface Slack extends Loopback {
  /** The secret address. */
  readonly webhook: string;
  readonly messages: SlackMessage[];
}

const PATH = '/services/T024BE7LD/B0LB7K3TR/Zu8wYq3v5xA1bC2dE3fG4hI5';

/** What the service does with `<…>` and the three entities: docs.slack.dev/messaging/formatting-message-text. */
export function readSlack(text: string): Pick<SlackMessage, 'shown' | 'mentions'> {
  const mentions = [...text.matchAll(/<([!@#][^>]*)>/g)].map((each) => each[1] as string);
  const shown = text.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');
  return { shown, mentions };
}

export async function startSlack(): Promise<Slack> {
  const messages: SlackMessage[] = [];
  const server = await startLoopback({
    route: (request) => request.method ?? '',
    async answer(request, response) {
      const end = (status: number, word: string) => {
        response.writeHead(status, { 'Content-Type': 'text/plain' });
        response.end(word);
      };
      const body = await readBody(request);
      if (request.url !== PATH) return end(404, 'no_service');
      if (request.method !== 'POST') return end(405, 'method_not_allowed');
      let payload: Record<string, unknown>;
      try {
        payload = JSON.parse(body?.toString('utf8') ?? '') as Record<string, unknown>;
      } catch {
        return end(400, 'invalid_payload');
      }
      const { text } = payload;
      if (typeof text !== 'string' || text.trim() === '') return end(400, 'no_text');
      if (text.length > 40_000) return end(400, 'msg_too_long');
      messages.push({ payload, ...readSlack(text) });
      end(200, 'ok');
    },
  });
  return { ...server, webhook: `${server.url}${PATH}`, messages };
}

/** Refusals as the service words them, to be given to fail(). */
export const slackRefusals = {
  gone: { status: 404, body: 'no_service' },
  archived: { status: 410, body: 'channel_is_archived' },
  prohibited: { status: 403, body: 'action_prohibited' },
  limited: (seconds: number) => ({
    status: 429,
    body: 'rate_limited',
    headers: { 'Retry-After': String(seconds) },
  }),
  internal: { status: 500, body: 'rollup_error' },
} as const;
