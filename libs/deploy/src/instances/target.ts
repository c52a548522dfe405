/** An instance of an app at a release, with the environment that its commands run in. */
import { basename } from 'node:path';
import { variablesOf } from '@runner/common/app-secrets/open';
import type { Deployed } from '@runner/common/apps/deployed';
import { previewSlug } from '@runner/common/apps/preview';
import { liveSlot, otherSlot, type SlotName } from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import { environmentName } from '@runner/common/audit/trace';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { makeFolder } from '@runner/common/files/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { choiceOf } from '@runner/common/text/nearest';
import { word } from '@runner/common/text/shell';
import type { Operation, Version } from '../journal/operation.ts';
import { stepEnvironment } from '../run/environment.ts';
import type { Target } from './drivers/driver.ts';
import { fileOfRelease } from './kept-file.ts';
import { freeSlot, placeIn, slotOf, startsBeside } from './place.ts';

/** What a target is made from. */
export interface Chosen extends Version {
  readonly file: DeployFile;
  readonly instance: Instance;
  /** undefined: the slot that the release has, or would get. */
  readonly slot?: SlotName | undefined;
  /** Instead of all secrets that the instance has. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** The target for an instance at a release, as the release's `.deploy.yml` describes it. */
export function targetOf(op: Operation, chosen: Chosen): Target {
  const { deployId, log, redact, signal } = op;
  const { app } = op.app;
  const { file, release, version, commit } = chosen;
  const { env: plain, ...rest } = chosen.instance;
  const secrets = chosen.secrets ?? variablesOf(op.secrets[op.values](rest.name));
  const instance = { ...rest, env: { ...plain, ...secrets } };
  const appPaths = op.paths.app(app);
  const whole = appPaths.instance(instance.name);
  const slots = findApp(op.paths, app)?.instances[instance.name]?.slots;
  const known = chosen.slot ?? slotOf(slots, liveSlot(whole), release);
  const wanted = instance.traffic && (known ?? freeSlot(instance.traffic, whole));
  const { slot, paths, env } = placeIn(instance, whole, wanted);
  const folder = appPaths.release(release);
  const writable = { release: folder, shared: paths.shared, slot: slot && paths.dir };
  const outerEnv = stepEnvironment(op.io.env);
  const environment = op.app.preview ? 'preview' : environmentName(instance.name);
  // What OpenTelemetry's libraries add to all that the app reports; values are percent-encoded.
  const resource = `service.name=${app},service.version=${encodeURIComponent(version)},deployment.environment.name=${environment}`;
  // One for all apps would let a build of one write configuration that runs in the builds of the others.
  unlessFailure(() => makeFolder(appPaths.home, 0o700), undefined);
  // A full disk must not stop a rollback.
  unlessFailure(() => makeFolder(paths.shared), undefined);
  return {
    app,
    file,
    instance,
    secrets,
    slot,
    paths,
    log,
    redact,
    signal,
    outerEnv,
    version,
    commit,
    release: folder,
    start: file.start,
    stop: file.stop,
    confine: (profile, network, copy) =>
      op.sandbox.confine(profile, { ...writable, network, copy }),
    env: {
      ...outerEnv,
      HOME: appPaths.home,
      OTEL_RESOURCE_ATTRIBUTES: resource,
      ...plain,
      ...secrets,
      ...env,
      RUNNER_APP: app,
      ...(op.app.preview && { RUNNER_PREVIEW: previewSlug(op.app.preview.key) }),
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

/** An instance as a kept release describes it; undefined if its `.deploy.yml` cannot be read. */
export function keptTarget(
  op: Operation,
  name: string,
  { release, version, commit }: Version,
  slot?: SlotName,
): Target | undefined {
  const file = fileOfRelease(op.paths, op.app.app, { release, commit });
  if (!file) return undefined;
  const known = file.instances.find((each) => each.name === name);
  const instance = known ?? { name, domain: undefined, env: {} };
  return targetOf(op, { file, instance, release, version, commit, slot });
}

/** The same in its other slot, where it has two: what is started again may still serve. */
export function besideItself(op: Operation, target: Target): Target {
  const { slot, instance } = target;
  if (!slot || !startsBeside(instance)) return target;
  const version = { ...target, release: releaseOf(target) };
  return keptTarget(op, instance.name, version, otherSlot(slot)) ?? target;
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

/** The command that makes what the newest commit of an app needs of the server. */
export function setupCommand(app: AppState): string {
  return `sudo runner setup ${word(app.app)}${previousOfAll(app, []) ? ' --next' : ''}`;
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
export function onlyInstance(file: DeployFile, name: string | undefined, version: string) {
  if (name === undefined) return file;
  const instances = file.instances.filter((each) => each.name === name);
  if (instances.length > 0) return { ...file, instances };
  const known = file.instances.map((each) => each.name);
  throw new Failure(
    'instance_not_found',
    `.deploy.yml of ${version} has no instance '${name.slice(0, 80)}'${choiceOf('it has', name, known)}`,
  );
}
