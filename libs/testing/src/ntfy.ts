/** One topic of an ntfy server, with its rules and words (server/server.go, server/errors.go). */
import { type Loopback, readBody, sendJson, startLoopback } from './loopback.ts';

export interface NtfyMessage {
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface Ntfy extends Loopback {
  /** The address of the topic. */
  readonly topic: string;
  readonly token: string;
  readonly messages: NtfyMessage[];
}

const TOPIC = 'deploys-Xq7vLm2Tz9';
const TOKEN = 'tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2';
/** Bytes of a message; a longer one becomes a file. */
const MESSAGE_MAX = 4096;
/** Bytes of a request's body (transformBodyJSON). */
const BODY_MAX = 2 * MESSAGE_MAX;

/** An error in the shape that all errors of the server have. */
const problem = (code: number, error: string) => ({
  status: Math.floor(code / 100),
  body: { code, http: Math.floor(code / 100), error },
});

/** Refusals as the server words them, to be given to fail(). */
export const ntfyRefusals = {
  unauthorized: problem(40101, 'unauthorized'),
  forbidden: problem(40301, 'forbidden'),
  limited: problem(42901, 'limit reached: too many requests'),
  dayLimited: problem(42908, 'limit reached: daily message quota reached'),
  internal: problem(50001, 'internal server error'),
  noFiles: problem(40014, 'invalid request: attachments not allowed'),
} as const;

const FIELDS: Readonly<Record<string, string>> = {
  topic: 'string',
  message: 'string',
  title: 'string',
  priority: 'number',
};

export async function startNtfy(): Promise<Ntfy> {
  const messages: NtfyMessage[] = [];
  const server = await startLoopback({
    route: (request) => request.method ?? '',
    async answer(request, response) {
      const end = ({ status, body }: ReturnType<typeof problem>) =>
        sendJson(response, status, body);
      const body = await readBody(request);
      if (request.method === 'GET' && request.url === '/v1/health')
        return sendJson(response, 200, { healthy: true });
      if (request.headers.authorization !== `Bearer ${TOKEN}`)
        return end(ntfyRefusals.unauthorized);
      if (request.method === 'GET' && request.url === '/v1/account')
        return sendJson(response, 200, { username: 'phil', role: 'user' });
      if (request.method !== 'POST' || request.url !== '/')
        return end(problem(40401, 'page not found'));
      if (body === null || body.length > BODY_MAX)
        return end(problem(41303, 'JSON body too large'));
      let payload: Record<string, unknown>;
      try {
        payload = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
      } catch {
        return end(problem(40024, 'invalid request: request body must be valid JSON'));
      }
      const isBad = Object.entries(payload).some(([key, value]) => typeof value !== FIELDS[key]);
      if (isBad) return end(problem(40024, 'invalid request: request body must be valid JSON'));
      if (payload.topic !== TOPIC) return end(problem(40009, 'invalid request: topic invalid'));
      if (Buffer.byteLength(String(payload.message)) > MESSAGE_MAX)
        return end(ntfyRefusals.noFiles);
      const priority = (payload.priority ?? 3) as number;
      if (!(priority >= 1 && priority <= 5))
        return end(problem(40007, 'invalid priority parameter'));
      messages.push({ payload });
      const { message, title } = payload;
      const id = `sPs71M8A2T${messages.length}`;
      sendJson(response, 200, {
        id,
        time: 1_700_000_000,
        event: 'message',
        topic: TOPIC,
        message,
        title,
      });
    },
  });
  return { ...server, topic: `${server.url}/${TOPIC}`, token: TOKEN, messages };
}
