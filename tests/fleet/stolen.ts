/** A stolen server: its keys are used to sign whatever the thief likes. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBroker } from '../../libs/fleet/src/broker/nats.ts';
import { AGENT_API } from '../../libs/fleet/src/broker/subjects.ts';
import { digestOf, seal, type Use } from '../../libs/fleet/src/order/seal.ts';

/** Sets the title of a terminal, colours it, reverses text, and begins a line. */
export const CONTROL = '\x1b]0;PWNED\x07\x1b[31mroot# \u202e\r\n';

export type Fields = Record<string, unknown>;

export interface Thief {
  /** A sealed message with this content; text is signed as it is. */
  sealed(use: Use, body: Fields | string): string;
  /** Replies to pings with a good state and these fields, or with a text that is signed as it is. */
  reply(fields: (question: Fields) => Fields | string): void;
  store(subject: string, text: string): Promise<void>;
  /** Answers each order: undefined stores no result. */
  serve(result: (order: Fields, good: Fields) => string | undefined): Promise<void>;
  close(): Promise<void>;
}

/** A reply that an agent could have sent. */
export const goodState = (): Fields => ({
  nonce: '',
  at: new Date().toISOString(),
  agent: '1.2.3',
  apps: [{ app: 'shop', version: 'v1', commit: 'a'.repeat(40), held: null }],
  events: { sent: 0, waiting: 0 },
  head: null,
});

/** A result that an agent could have stored. */
export const goodResult = (fields: Fields = {}): Fields => ({
  order: 'r-12345678',
  digest: '0'.repeat(32),
  verb: 'deploy',
  app: 'shop',
  status: 'deployed',
  code: null,
  message: '',
  deploy_id: 'abcd1234',
  version: 'v1',
  previous_version: null,
  commit: 'a'.repeat(40),
  duration_ms: 5,
  rollback_failed: false,
  at: new Date().toISOString(),
  n: 1,
  prev: '0'.repeat(32),
  ...fields,
});

/** A batch that an agent could have stored. */
export function goodBatch(lines: string, fields: Fields = {}): Fields {
  const to = Buffer.byteLength(lines);
  const place = { n: 1, prev: '0'.repeat(32), file: 'f'.repeat(32), from: 0, to, gap: false };
  return { ...place, lines, ...fields };
}

/** Logs in with the keys in a server's root. */
export async function steal(url: string, server: string, root: string): Promise<Thief> {
  const file = (name: string) => readFileSync(join(root, 'agent', name), 'utf8');
  const key = createPrivateKey(file('sign.key'));
  const seed = file('login.nk').trim();
  const broker = await openBroker({ url, ca: undefined, seed, name: server, api: AGENT_API });
  const sealed = (use: Use, body: Fields | string) =>
    JSON.stringify(seal(use, server, typeof body === 'string' ? body : JSON.stringify(body), key));
  const store = async (subject: string, text: string) => void (await broker.store(subject, text));
  return {
    sealed,
    reply(fields) {
      broker.reply(`runner.ping.${server}`, async (text) => {
        const question = JSON.parse(text) as Fields;
        const state = { ...goodState(), nonce: question.nonce };
        const answer = fields(question);
        return sealed('state', typeof answer === 'string' ? answer : { ...state, ...answer });
      });
    },
    store,
    async serve(result) {
      for await (const message of await broker.orders(server)) {
        const { body } = JSON.parse(message.string()) as { body: string };
        const order = JSON.parse(body) as Fields;
        const { id, verb, app, ref } = order;
        const own = { order: id, digest: digestOf(body), verb, app, commit: ref };
        const text = result(order, goodResult(own));
        if (text !== undefined) await store(`runner.result.${server}.${id}`, text);
        message.ack();
      }
    },
    close: () => broker.close(),
  };
}
