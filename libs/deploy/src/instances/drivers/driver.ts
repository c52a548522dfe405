/** The contract of what starts and stops instances, each in its place. One file per type of `start`. */
import { dirname } from 'node:path';
import type { Restarts } from '@runner/common/apps/instance-summary';
import type { SlotName } from '@runner/common/apps/slots';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { Start } from '@runner/common/deploy-file/start';
import type { InstancePaths } from '@runner/common/foundation/paths';
import type { DeployLog } from '../../run/log.ts';
import { type ProgramStep, runStep } from '../../run/step.ts';
import type { Folders, Profile } from '../../sandbox/mounts.ts';
import type { Confinement } from '../../sandbox/sandbox.ts';

/** One instance of an app at one release. */
export interface Target<S extends Start = Start> {
  readonly app: string;
  readonly version: string;
  readonly commit: string;
  /** `.deploy.yml` of the release. */
  readonly file: DeployFile;
  readonly instance: Instance;
  /** Folder of the release. */
  readonly release: string;
  /** The slot it runs in; undefined for an instance that has none. */
  readonly slot: SlotName | undefined;
  /** The files of the slot, or of the instance. */
  readonly paths: InstancePaths;
  readonly start: S;
  /** `stop` of `.deploy.yml`; only for type `command`. */
  readonly stop: string | undefined;
  /** The secrets in `env`. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Environment of its commands and of the app. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: DeployLog;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
  /** The environment of programs that are not the repository's choice. */
  readonly outerEnv: Readonly<Record<string, string>>;
  /** How the commands that the repository decides are confined; undefined if they are not. `copy` they may write, too. */
  confine(profile: Profile, network?: Folders['network'], copy?: string): Confinement | undefined;
}

/** What a start left running. */
export interface Started {
  /** How it has died since, in words, with its output; undefined while it runs, or nothing is known. */
  death(): { words: string; output: string } | undefined;
  /** What it has printed since; absent if the driver cannot know. */
  output?(): string;
  /**
   * Who listens on a port instead of what was started, in words; undefined if that does. Absent if
   * the driver does not know its processes.
   */
  strangerOn?(port: number): string | undefined;
  /** The same on any port. */
  stranger?(): string | undefined;
  /** Its processes, if the driver knows them. */
  pids?(): number[];
  /** What was odd although it succeeded, in words. */
  readonly remark?: string | undefined;
  /** What of the same release ran before and, as the remark explains, was not ended, in words. */
  readonly left?: string | undefined;
}

/** The folder of the app that a place is of. */
export function appFolderOf({ shared }: Pick<InstancePaths, 'shared'>): string {
  return dirname(dirname(dirname(shared)));
}

/** A name in the registry of a supervisor, which all apps share: `runner-shop-default-1a2b`, by root, app, instance and slot. */
export function ownName({
  app,
  instance,
  slot,
  paths,
}: Pick<Asked, 'app' | 'instance' | 'slot' | 'paths'>): string {
  const { hash } = process.getBuiltinModule('node:crypto');
  const mark = hash('sha256', paths.dir, 'hex').slice(0, 4);
  return ['runner', app, instance.name, slot, mark].filter(Boolean).join('-');
}

/** For what cannot be observed after its start. */
export const unobserved: Started = { death: () => undefined };

type SupervisorStep = Omit<ProgramStep, 'stage' | 'title' | 'cwd' | 'env'> &
  Partial<Pick<ProgramStep, 'title' | 'env'>>;

/** A step `start` that runs a program in the folder of the release. */
export function stepFor({ release: cwd, env }: Target, step: SupervisorStep): ProgramStep {
  return { stage: 'start', title: [step.file, ...step.args].join(' '), cwd, env, ...step };
}

/** Runs such a step. Returns its output. Throws a StepFailure. */
export function runFor(target: Target, step: SupervisorStep): Promise<string> {
  return runStep(target.log, target.signal, stepFor(target, step));
}

/** Whether an instance is running, if its supervisor can know. */
export type InstanceStatus = 'running' | 'stopped' | 'unknown';

/** What to ask a supervisor's client about one instance. */
export interface SupervisorQuestion {
  readonly program: string;
  readonly args: readonly string[];
  /** Follows the arguments: questions that differ only here are asked at once. */
  readonly subject?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly confinement?: Confinement | undefined;
  /** What the output of a client that succeeded means; `at` is the place of the subject. */
  readonly read: (stdout: string, at: number) => SupervisorAnswer;
}

export interface SupervisorAnswer {
  readonly status: InstanceStatus;
  /** Its processes, the main process first; absent if they are not known. May ask once more. */
  pids?(): readonly number[];
  /** Absent if the supervisor does not count restarts, or was not reached. */
  readonly restarts?: Restarts;
}

/** What a question is about. */
export type Asked<S extends Start = Start> = Pick<
  Target<S>,
  'app' | 'instance' | 'release' | 'slot' | 'paths' | 'start' | 'env' | 'outerEnv' | 'confine'
>;

/** Some variables: questions to one supervisor must not differ in what is an app's own. */
export function only(env: Asked['env'], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
}

export interface Driver<S extends Start = Start> {
  /** Throws a StepFailure, before anything is touched, if the target cannot be started. */
  prepare?(target: Target<S>): void;
  /** The user that the target runs as, if it is another one than runner's. */
  user?(target: Target<S>): string | undefined;
  /** Starts the target, replacing what runs for its instance. Throws a StepFailure of stage `start`. */
  start(target: Target<S>): Promise<Started>;
  /** The target gets the requests from now on, also after a reboot; only for one in a slot. */
  live?(target: Target<S>): Promise<void>;
  /** Stops what runs for the instance, if anything does. */
  stop(target: Target<S>): Promise<unknown>;
  /** Whether what runs was started from the target's release; absent: no one can say. */
  runs?(target: Target<S>): boolean;
  /** Whether the instance runs, or whom to ask. Starts nothing, not even a supervisor. */
  status(asked: Asked<S>): InstanceStatus | SupervisorQuestion;
}
