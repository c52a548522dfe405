/** What the contract says of a command: how it is called, and every code that it can refuse with. */
import type { FailureCode } from '@runner/common/foundation/failure';
import { TOKENS } from './known-secrets.ts';
import type { SituationName } from './situations.ts';
import type { Stage } from './stage.ts';

/** A code, or a status alone when the command reports the problem in its answer. */
export type Outcome = FailureCode | `status ${number}`;
/** What brings each about. */
export type Refusals = Readonly<Partial<Record<Outcome, readonly SituationName[]>>>;

/** One way to call a command. */
export interface Call {
  readonly args: readonly string[] | ((stage: Stage) => readonly string[]);
  readonly stdin?: (stage: Stage) => string;
  /** What it ends with on the stage; default 0. */
  readonly status?: number;
}

export interface Entry {
  /** As it is typed behind `runner`. */
  readonly command: string;
  /** Ways that succeed; the first stands for the command in every other test. */
  readonly calls: readonly [Call, ...Call[]];
  /** Status of the first call when standard input is empty; default as with input. */
  readonly withoutInput?: number;
  /** Whether it changes files below the root; default false. */
  readonly writes?: boolean;
  /** Where it cannot write all, it has written something: what it had to record before it went on. */
  readonly changesInSpite?: boolean;
  /** Calls of its own that it refuses, and the code. */
  readonly wrong?: readonly (readonly [code: FailureCode, call: Call])[];
  /** The code that each situation brings about for the first call; in every other situation it succeeds. */
  readonly refusals: Refusals;
}

export const call = (...args: string[]): Call => ({ args });
export const NEW = ['--repo', 'acme/new', '--branch', 'main'] as const;
export const withToken = (...args: string[]): Call => ({ args, stdin: () => `${TOKENS.plain}\n` });
export const withEvent = (...args: string[]): Call => ({ args, stdin: ({ event }) => event });

/** Of those that read a state file. */
export const STATE = {
  state_malformed: ['a state file is damaged'],
  state_unsupported: ['a state file is newer'],
  file_unreadable: ['a state file is a folder'],
} as const satisfies Refusals;

/** Of those that read the master key. */
export const KEY = {
  mkey_missing: ['the master key is lost'],
  mkey_exposed: ['others may read the master key'],
  mkey_malformed: ['the master key is damaged'],
} as const satisfies Refusals;

/** Of those that open a token. */
export const SEALED = {
  mkey_unknown: ['the master key is another one'],
  token_corrupt: ['a token is damaged'],
  token_wrong_app: ['a token is that of another app'],
} as const satisfies Refusals;

/** Of those that speak to the chats. */
export const CHATS = {
  config_invalid: ['config.yml is no YAML', 'a value in config.yml is wrong'],
  insecure_address: ['a chat is not reached by https'],
  file_unreadable: ['config.yml is a folder'],
} as const satisfies Refusals;

/** Every way in which a host that is asked is of no use. */
export const HOSTS_FAIL = [
  'every host answers 401',
  'every host answers 403',
  'every host answers 404',
  'every host answers 429',
  'every host answers 500',
  'every host hangs up',
  'every host answers no JSON',
] as const satisfies readonly SituationName[];

/** Of those that take a lock. */
export const FLOCK = { lock_unavailable: ['flock is missing'] } as const satisfies Refusals;

/** Of those that change the registry. */
export const CHANGE = {
  ...FLOCK,
  locked: ['another command changes the registry'],
  not_writable: ['a file stands in the place of locks'],
} as const satisfies Refusals;

/** Of all. */
export const OUTPUT = { output_failed: ['standard output is full'] } as const satisfies Refusals;

/** Of those that read every app and the configuration. */
export const APPS = {
  ...STATE,
  ...OUTPUT,
  file_unreadable: ['a state file is a folder', 'config.yml is a folder'],
  config_invalid: ['config.yml is no YAML', 'a value in config.yml is wrong'],
} as const satisfies Refusals;

/** Of those that wait for a deploy of the app. */
export const OPERATION = {
  ...STATE,
  ...FLOCK,
  ...OUTPUT,
  locked: ['a deploy of the app runs'],
  not_writable: ['a file stands in the place of locks'],
} as const satisfies Refusals;

export const NO_APP = [['app_not_found', call('nope')]] as const;
