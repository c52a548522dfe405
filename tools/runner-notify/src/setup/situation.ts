/** What every step of the setup works with. */
import type { Config } from '@runner/common/config/file';
import {
  type ChannelName,
  type NotifySettings,
  notifySettingsOf,
} from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Problem } from '../channels/channel.ts';
import type { Probe } from '../channels/probe.ts';
import type { Reply, Wire } from '../channels/reply.ts';
import type { Dialogue } from './dialogue.ts';
import { type DraftValues, draftOf } from './draft.ts';
import type { Inputs } from './inputs.ts';
import { refusalOf, refusalText } from './refusal.ts';

/** How often a secret or a chat is asked for before the setup gives up. */
export const ATTEMPTS = 3;

/** The credentials of all channels, as far as they are known. */
type Credentials = Pick<NotifySettings, ChannelName>;

/** The configuration, what was given, and the person to ask, if there is one. */
export interface Situation {
  readonly io: Io;
  readonly config: Config;
  readonly inputs: Inputs;
  /** Undefined: nobody is there to be asked. */
  readonly dialogue: Dialogue | undefined;
  /** Sends a test message before anything is saved. */
  readonly test: boolean;
  /** One line for whoever reads stderr. */
  note(text: string): void;
  /** To ask a service on; Ctrl-C ends what is asked. */
  wire(credentials: Credentials): Wire;
  /** Undefined when the credentials of the channel are not among these. */
  probe(channel: ChannelName, credentials: Credentials): Probe | undefined;
}

/** One channel as it will be saved. */
export interface Prepared {
  /** Keys of section `notify`; undefined removes one. */
  readonly values: DraftValues;
  /** What is told about it, without a secret. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly tested: boolean;
}

/** The settings as they will be with these values. Throws as `notifySettingsOf`. */
export function settingsWith({ config, io }: Situation, values: DraftValues): NotifySettings {
  return notifySettingsOf(draftOf(config, values), io.env);
}

/** Asks a service; on a terminal Ctrl-C ends it. */
export function asking<T>({ dialogue }: Situation, work: () => Promise<T>): Promise<T> {
  return dialogue ? dialogue.during(work) : work();
}

/** The same as long as the person wants to try again. Throws what the service refused. */
export async function insisting<T>(
  situation: Situation,
  channel: ChannelName,
  work: () => Promise<Reply<T>>,
): Promise<Reply<T>> {
  for (;;) {
    const reply = await asking(situation, work);
    const passing = 'problem' in reply && reply.problem.retryable;
    if (!passing || !situation.dialogue) return reply;
    await againOrStop(situation.dialogue, channel, reply.problem);
  }
}

/** For trouble that may pass: tells it, and throws it when the person has enough. */
async function againOrStop(
  dialogue: Dialogue,
  channel: ChannelName,
  problem: Problem,
): Promise<void> {
  dialogue.warn(refusalText(channel, problem));
  if (!(await dialogue.confirm('Try again?'))) throw refusalOf(channel, problem);
}

/** What to do after a test message that did not arrive. */
export type AfterTrial = 'again' | 'other' | 'save';

/**
 * Sends the test message; true when it arrived, else what the person wants. Without a person a
 * refusal is thrown.
 */
export async function tryOut(
  situation: Situation,
  channel: ChannelName,
  values: DraftValues,
  other: string,
): Promise<{ readonly movedTo: string | undefined } | AfterTrial> {
  const { dialogue } = situation;
  const settings = settingsWith(situation, values);
  const probe = situation.probe(channel, settings) as Probe;
  for (;;) {
    const trial = await asking(situation, () => probe.sendTest());
    if (trial.delivered) {
      dialogue?.done('The test message was delivered');
      return { movedTo: trial.movedTo };
    }
    if (!dialogue) throw refusalOf(channel, trial.problem);
    dialogue.warn(`The test message was not delivered: ${refusalText(channel, trial.problem)}`);
    const answer = await dialogue.choose('What now?', [
      'Try again',
      other,
      'Save it although no test message arrived',
      'Stop without saving',
    ]);
    if (answer === 1) return 'other';
    if (answer === 2) return 'save';
    if (answer === 3) throw stopped();
  }
}

/** The person has chosen to end the setup. */
export function stopped(): Failure {
  return new Failure('interrupted', 'stopped, nothing was changed');
}
