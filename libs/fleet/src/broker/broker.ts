/** What the broker is asked: messages, streams and mailboxes. */
import {
  type ConsumerMessages,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type StoredMsg,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Failure } from '@runner/common/foundation/failure';
import { isObject, jsonObject } from '@runner/common/text/json';
import { connectionFailure } from './failure.ts';
import { STREAMS, type StreamName, subjects } from './subjects.ts';

/** A stored message. */
export interface Stored {
  readonly seq: number;
  readonly text: string;
  readonly subject: string;
  readonly at: Date;
}

/** Of each request, in ms. */
export const TIMEOUT = 5_000;
/** Bytes of a message that needs more than what is left of a block of a full disk. */
const PROBE = 16_384;
/** Characters of an error that it reports. */
const ERROR_MAX = 200;
/** In ns: an order is redelivered if it is neither acknowledged nor reported in progress for this long. */
const ACK_WAIT = 15e9;

const FILE = { storage: 'file' as const, allow_direct: true };

/** The broker's error code when another message came first. */
const WRONG_LAST_SEQUENCE = 10_071;
/** What it answers about a stream that does not exist. */
const NO_STREAM = 10_059;

export class Broker {
  private readonly connection: NatsConnection;
  private readonly stream: JetStreamClient;
  private readonly manager: JetStreamManager;

  constructor(connection: NatsConnection, stream: JetStreamClient, manager: JetStreamManager) {
    this.connection = connection;
    this.stream = stream;
    this.manager = manager;
  }

  /** Resolves when the connection is closed for good, with the error if we did not close it. */
  async closed(): Promise<Error | undefined> {
    return (await this.connection.closed()) ?? undefined;
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  get version(): string {
    return this.connection.info?.version ?? '';
  }

  /** Whether this login is limited to an account without streams, in which no other key is logged in. */
  async isLimitedTo(account: string, key: string): Promise<boolean> {
    const ask = async (subject: string, text = '') =>
      jsonObject((await this.request(subject, text, TIMEOUT)) ?? '');
    const [streams, logins] = await Promise.all([
      ask('$JS.API.INFO'),
      ask('$SYS.REQ.ACCOUNT.PING.CONNZ', '{"auth":true}'),
    ]);
    const all = isObject(logins?.data) ? logins.data.connections : undefined;
    const isOwn = (each: unknown) =>
      isObject(each) && each.account === account && each.authorized_user === key;
    const hasOthers = !Array.isArray(all) || all.length === 0 || !all.every(isOwn);
    return (streams === undefined || isObject(streams.error)) && !hasOthers;
  }

  /** What an answer that failed means. A stream that does not exist answers with silence. */
  private async failure(error: unknown): Promise<unknown> {
    const host = this.connection.getServer();
    if (this.connection.isClosed()) return connectionFailure(error, host);
    if (error instanceof JetStreamApiError) {
      const text = `${host} answers, but with an error: ${error.message.slice(0, ERROR_MAX)}; its disk may be full`;
      return new Failure('broker_failed', text, {}, error);
    }
    const answer = await this.manager.streams.info('ORDERS').catch((why: unknown) => why);
    const isMissing = answer instanceof JetStreamApiError && answer.code === NO_STREAM;
    if (!isMissing && answer instanceof Error) return connectionFailure(error, host);
    if (!isMissing)
      return new Failure('broker_unreachable', `${host} did not confirm in time`, {}, error);
    const text = `${host} has no streams yet: run runner fleet broker check`;
    return new Failure('broker_unsafe', text);
  }

  /** Calls back after each reconnection. */
  async onReconnect(call: () => void): Promise<void> {
    for await (const { type } of this.connection.status()) if (type === 'reconnect') call();
  }

  /** Sequence number of the stored message; undefined if the subject's last one is no longer `expect`. */
  async store(subject: string, text: string, expect?: number): Promise<number | undefined> {
    const options = expect === undefined ? {} : { expect: { lastSubjectSequence: expect } };
    try {
      return (await this.stream.publish(subject, text, { timeout: TIMEOUT, ...options })).seq;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === WRONG_LAST_SEQUENCE)
        return undefined;
      throw await this.failure(error);
    }
  }

  /** Publishes a message that is not stored. */
  publish(subject: string, text: string): void {
    if (!this.connection.isClosed()) this.connection.publish(subject, text);
  }

  /** The newest message of a subject. */
  async last(stream: StreamName, subject: string): Promise<Stored | undefined> {
    return this.get(stream, { last_by_subj: subject });
  }

  /** The first message from `seq` on; the subject may have wildcards. */
  async next(stream: StreamName, subject: string, seq: number): Promise<Stored | undefined> {
    return this.get(stream, { seq, next_by_subj: subject });
  }

  /** The messages of a subject, which may have wildcards, from `from` on. */
  async *all(stream: StreamName, subject: string, from = 1): AsyncGenerator<Stored> {
    for (let seq = from; ; ) {
      const stored = await this.next(stream, subject, seq);
      if (!stored) return;
      yield stored;
      seq = stored.seq + 1;
    }
  }

  private async get(
    stream: StreamName,
    query: Parameters<JetStreamManager['direct']['getMessage']>[1],
  ): Promise<Stored | undefined> {
    try {
      const message: StoredMsg | null = await this.manager.direct.getMessage(stream, query);
      if (message === null) return undefined;
      const { seq, subject, time } = message;
      return { seq, subject, at: time, text: message.string() };
    } catch (error) {
      if (error instanceof JetStreamApiError && error.status === 404) return undefined;
      throw await this.failure(error);
    }
  }

  /** Calls back for each message of a subject; messages may be lost. Returns a function that unsubscribes. */
  subscribe(subject: string, call: (text: string) => void): () => void {
    const subscription = this.connection.subscribe(subject, {
      callback: (error, message) => void (error || call(message.string())),
    });
    return () => subscription.unsubscribe();
  }

  /** The reply to a request; undefined if none arrives in time. */
  async request(subject: string, text: string, timeout: number): Promise<string | undefined> {
    try {
      return (await this.connection.request(subject, text, { timeout })).string();
    } catch {
      return undefined;
    }
  }

  /** Replies to requests. */
  reply(subject: string, handle: (text: string) => Promise<string>): void {
    this.connection.subscribe(subject, {
      callback: (error, message) => {
        if (!error) void handle(message.string()).then((text) => message.respond(text));
      },
    });
  }

  /** Orders for a server as they arrive. Each is redelivered until it is acknowledged. */
  async orders(server: string): Promise<ConsumerMessages> {
    const consumer = await this.stream.consumers.get('ORDERS', server);
    return consumer.consume({ max_messages: 100, expires: 10_000, idle_heartbeat: 2_000 });
  }

  /** Creates the streams, or updates their configuration. */
  async createStreams(): Promise<void> {
    for (const stream of STREAMS) {
      const config = { ...stream, subjects: [...stream.subjects], ...FILE };
      await this.manager.streams
        .update(stream.name, config)
        .catch(() => this.manager.streams.add(config));
    }
  }

  /** Throws unless the broker can store: with a full disk it still answers. */
  async tryToStore(): Promise<void> {
    // Not in a stream that keeps one message of a subject: nats-server 2.9 hangs there on a full disk.
    const seq = await this.store(subjects.order('%'), ' '.repeat(PROBE));
    await this.manager.streams.deleteMessage('ORDERS', Number(seq), false).catch(async (error) => {
      throw await this.failure(error);
    });
  }

  /** Creates a server's mailbox: a durable consumer of its orders. */
  async createMailbox(server: string): Promise<void> {
    const filter_subject = subjects.order(server);
    const config = {
      durable_name: server,
      filter_subject,
      ack_policy: 'explicit',
      ack_wait: ACK_WAIT,
    } as const;
    await this.manager.consumers.add('ORDERS', config);
  }

  /** Whether the broker stores orders for this server. */
  async hasMailbox(server: string): Promise<boolean> {
    return this.stream.consumers.get('ORDERS', server).then(
      () => true,
      () => false,
    );
  }
}
