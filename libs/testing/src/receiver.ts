/** A receiver of Standard Webhooks that verifies with the reference library. */
import { Webhook } from 'standardwebhooks';
import { type Loopback, readBody, startLoopback } from './loopback.ts';

export interface ReceivedEvent {
  readonly payload: Readonly<Record<string, unknown>>;
  /** `webhook-id`. */
  readonly id: string;
}

export interface Receiver extends Loopback {
  readonly address: string;
  readonly secret: string;
  readonly messages: ReceivedEvent[];
  /** Requests whose signature the library refused. */
  readonly refused: string[];
}

/** From the vectors of the specification's libraries. */
export const WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export async function startReceiver(): Promise<Receiver> {
  const messages: ReceivedEvent[] = [];
  const refused: string[] = [];
  const library = new Webhook(WEBHOOK_SECRET);
  const server = await startLoopback({
    route: (request) => request.method ?? '',
    async answer(request, response) {
      const body = (await readBody(request))?.toString('utf8') ?? '';
      try {
        const headers = request.headers as Record<string, string>;
        const payload = library.verify(body, headers) as Record<string, unknown>;
        messages.push({ payload, id: String(headers['webhook-id']) });
        response.writeHead(204);
      } catch (error) {
        refused.push(String(error));
        response.writeHead(400);
      }
      response.end();
    },
  });
  const path = '/hooks/3f6c0e1d9a7b4c58';
  return { ...server, address: `${server.url}${path}`, secret: WEBHOOK_SECRET, messages, refused };
}
