/** What setting up a channel works with: the configuration, the given answers, the person. */

import type { ChannelName } from '@runner/common/config/channels';
import type { ConfigChange } from '@runner/common/config/edit';
import type { NotifySettings } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Channel, ConfigValues, RequestLine } from '../service/contract.ts';
import type { Reply } from '../service/exchange.ts';
import type { Dialogue } from './dialogue.ts';
import { isRefused, refusalOf, refusalText } from './refusal.ts';

/** How often a secret or a chat is asked for before the setup gives up. */
export const ATTEMPTS = 3;

/** Answers that were given on the command line, in files or in the environment. */
export interface Inputs {
  /** Undefined: to be asked. */
  readonly channels: readonly ChannelName[] | undefined;
  /** By option; the content of a file, not its name. */
  readonly answers: Readonly<Record<string, string | undefined>>;
  /** Standard input was read: it cannot be used for answers. */
  readonly stdinUsed: boolean;
}

/** The configuration, what was given, and the person to ask, if there is one. */
export interface Situation {
  readonly io: Io;
  readonly inputs: Inputs;
  /** Undefined: there is no terminal. */
  readonly dialogue: Dialogue | undefined;
  /** Sends a test message before anything is saved. */
  readonly test: boolean;
  /** Prints one line to stderr. */
  note(text: string): void;
  /** config.yml as it will be with these values. Throws as `notifySettingsOf`. */
  draft(values: ConfigValues): DraftConfig;
}

/** The configuration before it is saved; Ctrl-C aborts every request. */
export interface DraftConfig {
  readonly settings: NotifySettings;
  line(): RequestLine;
  /** Undefined when the credentials of the channel are not set. */
  connect(channel: ChannelName): Channel | undefined;
}

/** One channel as it will be saved. */
export interface Prepared {
  /** Keys of section `notify`; undefined removes one. */
  readonly values: ConfigValues;
  /** What is printed about it, without secrets. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly tested: boolean;
}

/** Asks for what is missing and tests it; saves nothing. */
export type SetUp = (situation: Situation) => Promise<Prepared>;

/** The changes that set these keys of section `notify`. */
export function changesTo(values: ConfigValues): ConfigChange[] {
  return Object.entries(values).map(([key, value]) => ({
    path: ['notify', ...key.split('.')],
    value,
  }));
}

/** Calls a service; on a terminal Ctrl-C ends the call. */
function interruptible<T>({ dialogue }: Situation, work: () => Promise<T>): Promise<T> {
  return dialogue ? dialogue.during(work) : work();
}

/** Calls a service again as long as the person wants to. Throws what the service refused. */
export async function withRetries<T>(
  situation: Situation,
  channel: ChannelName,
  work: () => Promise<Reply<T>>,
): Promise<Reply<T>> {
  for (;;) {
    const reply = await interruptible(situation, work);
    const { dialogue } = situation;
    if (!('problem' in reply && reply.problem.retryable && dialogue)) return reply;
    dialogue.warn(refusalText(channel, reply.problem));
    if (!(await dialogue.confirm('Try again?'))) throw refusalOf(channel, reply.problem);
  }
}

/** An answer to ask for, and how to check it. */
interface Wanted<V, T> {
  /** The answer that was given in advance: it is not asked for again. */
  readonly given: string | undefined;
  ask(dialogue: Dialogue): Promise<string>;
  read(text: string): V | Failure;
  /** Asks the service, which may refuse it. */
  check(value: V): Promise<Reply<T>>;
  /** Thrown after ATTEMPTS. */
  readonly failure: Failure;
}

/** An answer that can be used and that the service accepts. Throws when the given one is refused. */
export async function acceptedAnswer<V, T>(
  situation: Situation,
  channel: ChannelName,
  { given, ask, read, check, failure }: Wanted<V, T>,
): Promise<{ readonly value: V; readonly answer: T }> {
  const { dialogue } = situation;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const value = read((given ?? (dialogue && (await ask(dialogue))) ?? '').trim());
    if (value instanceof Failure) {
      if (given !== undefined || !dialogue) throw value;
      dialogue.warn(value.message);
      continue;
    }
    const reply = await withRetries(situation, channel, () => check(value));
    if (!('problem' in reply)) return { value, answer: reply.value };
    if (given !== undefined || !isRefused(reply.problem)) throw refusalOf(channel, reply.problem);
    dialogue?.warn(refusalText(channel, reply.problem));
  }
  throw failure;
}

/** A destination that is tried before it is saved. */
interface ChatCandidate {
  readonly channel: ChannelName;
  /** What the person chooses, in a word. */
  readonly what: string;
  /** There is no other destination to choose. */
  readonly given: boolean;
  /** `movedTo`: the new id of a destination that moved. */
  choose(): Promise<(movedTo?: string) => Omit<Prepared, 'tested'>>;
}

/**
 * Sends a test message to what is chosen, until one arrives or the person saves without. Without a person
 * throws the refusal.
 */
export async function tested(
  situation: Situation,
  { channel, what, given, choose }: ChatCandidate,
): Promise<Prepared> {
  const { dialogue } = situation;
  const choices = [
    'Try again',
    given ? `Check the ${what} again` : `Use another ${what}`,
    'Save anyway, without a delivered test message',
    'Stop without saving',
  ];
  for (;;) {
    const chosen = await choose();
    if (!situation.test) return { ...chosen(), tested: false };
    const connection = situation.draft(chosen().values).connect(channel) as Channel;
    let answer = 0;
    while (answer === 0) {
      const trial = await interruptible(situation, () => connection.sendTest());
      if (trial.class === 'delivered') {
        dialogue?.done('The test message was delivered');
        return { ...chosen(trial.movedTo), tested: true };
      }
      if (!dialogue) throw refusalOf(channel, trial.problem);
      dialogue.warn(`The test message was not delivered: ${refusalText(channel, trial.problem)}`);
      answer = await dialogue.choose('What now?', choices);
    }
    if (answer === 2) return { ...chosen(), tested: false };
    if (answer === 3) throw new Failure('interrupted', 'stopped, nothing was changed');
  }
}
