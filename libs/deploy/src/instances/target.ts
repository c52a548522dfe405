/** An instance of an app at a release, with the environment that its commands run in. */
import { basename } from 'node:path';
import { variablesOf } from '@runner/common/app-secrets/open';
import { otherSlot, type SlotName } from '@runner/common/apps/slots';
import type { AppState, Deployed } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { makeFolder } from '@runner/common/files/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { choiceOf } from '@runner/common/text/nearest';
import type { Job, Version } from '../journal/operation.ts';
import { stepEnvironment } from '../run/environment.ts';
import type { DeployLog } from '../run/log.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Target } from './drivers/driver.ts';
import { fileOfRelease } from './kept-file.ts';
import { foldersOf, placeIn, slotFor } from './place.ts';

/** What all targets of an app have in common. */
export interface TargetBase {
  readonly paths: Paths;
  readonly io: Io;
  readonly app: string;
  /** The running deploy or rollback, by which its processes are found. */
  readonly deployId: string;
  readonly log: DeployLog;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
  /** Prints a line, and logs it. */
  say(text: string): void;
  readonly sandbox: Sandbox;
  /** The secrets of an instance as variables. */
  secrets(instance: string): Readonly<Record<string, string>>;
}

/** A target with the `.deploy.yml` of its release. */
export interface ReleaseTarget extends Target {
  readonly file: DeployFile;
}

/** What the base of a target is made from. */
type BaseOf = Pick<Job, 'io' | 'paths' | 'deployId' | 'log' | 'redact' | 'secrets' | 'sandbox'> & {
  readonly app: Pick<AppState, 'app'>;
  readonly reporter?: Pick<Job['reporter'], 'note'>;
};

/** For the commands of a deploy, which end when it is interrupted. */
export function interruptible(job: BaseOf & Pick<Job, 'signal'>): TargetBase {
  return { ...uninterrupted(job, 'today'), signal: job.signal };
}

/**
 * For what must not be interrupted: rolling back, and stopping. Unless an operator asked for it, that
 * uses the secrets that ran a moment ago.
 */
export function uninterrupted(
  { io, paths, app: { app }, deployId, log, redact, secrets, sandbox, reporter }: BaseOf,
  values: 'today' | 'started' = 'started',
): TargetBase {
  return {
    ...{ paths, io, app, deployId, log, redact, sandbox },
    signal: new AbortController().signal,
    secrets: (instance) => variablesOf(secrets[values](instance)),
    say(text) {
      log.line(text);
      reporter?.note(text);
    },
  };
}

/**
 * The target for an instance at a release, as the release's `.deploy.yml` describes it; in the slot
 * that the release has, or would get.
 */
export function targetOf(
  base: TargetBase,
  file: DeployFile,
  { env: plain, ...rest }: Instance,
  { release, version, commit }: Version,
  chosen?: SlotName,
): ReleaseTarget {
  const { app, deployId, log, redact, signal } = base;
  const secrets = base.secrets(rest.name);
  const instance = { ...rest, env: { ...plain, ...secrets } };
  const appPaths = base.paths.app(app);
  const whole = appPaths.instance(instance.name);
  const slots = findApp(base.paths, app)?.instances[instance.name]?.slots;
  const wanted = chosen ?? slotFor(instance, whole, slots, release);
  const { slot, paths, env } = placeIn(instance, whole, wanted);
  const folder = appPaths.release(release);
  const outerEnv = stepEnvironment(base.io.env);
  // One for all apps would let a build of one write configuration that runs in the builds of the others.
  unlessFailure(() => makeFolder(appPaths.home, 0o700), undefined);
  // A full disk must not stop a rollback.
  unlessFailure(() => makeFolder(paths.shared), undefined);
  return {
    ...{ app, file, instance, secrets, slot, paths, log, redact, signal },
    release: folder,
    start: file.start,
    stop: file.stop,
    outerEnv,
    confine: (profile) => base.sandbox.confine(profile, foldersOf(folder, paths, slot)),
    env: {
      ...outerEnv,
      HOME: appPaths.home,
      ...plain,
      ...secrets,
      ...env,
      RUNNER_APP: app,
      RUNNER_INSTANCE: instance.name,
      RUNNER_VERSION: version,
      RUNNER_COMMIT: commit,
      RUNNER_RELEASE: folder,
      RUNNER_SHARED: paths.shared,
      RUNNER_DEPLOY_ID: deployId,
      ...(instance.domain !== undefined && { RUNNER_DOMAIN: instance.domain }),
    },
  };
}

/** The target of a deploy; `secrets` instead of all that the instance has. */
export function jobTarget(
  job: Job,
  file: DeployFile,
  instance: Instance,
  release: string,
  secrets?: Readonly<Record<string, string>>,
): ReleaseTarget {
  const { version, commit } = job;
  const base = interruptible(job);
  const own = secrets ? { ...base, secrets: () => secrets } : base;
  return targetOf(own, file, instance, { release, version, commit });
}

/** An instance as a kept release describes it; undefined if its `.deploy.yml` cannot be read. */
export function keptTarget(
  base: TargetBase,
  name: string,
  version: Version,
  slot?: SlotName,
): ReleaseTarget | undefined {
  const file = fileOfRelease(base.paths, base.app, version);
  if (!file) return undefined;
  const known = file.instances.find((each) => each.name === name);
  return targetOf(base, file, known ?? { name, domain: undefined, env: {} }, version, slot);
}

/** The same release in the slot beside the one in which it runs. */
export function besideItself(base: TargetBase, target: ReleaseTarget): ReleaseTarget {
  const { RUNNER_VERSION: version = '', RUNNER_COMMIT: commit = '' } = target.env;
  const slot = target.slot && otherSlot(target.slot);
  return targetOf(
    base,
    target.file,
    target.instance,
    { release: releaseOf(target), version, commit },
    slot,
  );
}

/** Name of the release that a target uses. */
export function releaseOf({ release }: Target): string {
  return basename(release);
}

/** `.deploy.yml` of the active release of an app; undefined if there is none. */
export function activeFile(paths: Paths, app: AppState): DeployFile | undefined {
  const active = previousOfAll(app, []);
  return active ? fileOfRelease(paths, app.app, active) : undefined;
}

/** The version that an instance had before this deploy. */
export function previousOf(job: Job, instance: string): Deployed | null {
  return job.app.instances[instance]?.current ?? null;
}

/**
 * The version that an app had before this deploy: that of the first of these instances that has
 * one, or of any other instance.
 */
export function previousOfAll(app: AppState, names: readonly string[]): Deployed | null {
  const own = names.map((name) => app.instances[name]?.current);
  const others = Object.values(app.instances).map(({ current }) => current);
  return [...own, ...others].find((version) => version) ?? null;
}

/** `.deploy.yml` limited to one instance, if one was asked for. Throws `instance_not_found`. */
export function onlyInstance(
  file: DeployFile,
  name: string | undefined,
  version: string,
): DeployFile {
  if (name === undefined) return file;
  const instances = file.instances.filter((each) => each.name === name);
  if (instances.length > 0) return { ...file, instances };
  const known = file.instances.map((each) => each.name);
  throw new Failure(
    'instance_not_found',
    `.deploy.yml of ${version} has no instance '${name.slice(0, 80)}'${choiceOf('it has', name, known)}`,
  );
}
