/** An instance of an app at a release, with the environment that its commands find. */
import { join } from 'node:path';
import type { AppState, Deployed } from '@runner/common/apps/state';
import {
  DEPLOY_FILE,
  type DeployFile,
  type Instance,
  readDeployFile,
} from '@runner/common/deploy-file/read';
import { readIfThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Env, Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { stepEnvironment } from '../run/environment.ts';
import type { DeployLog } from '../run/log.ts';
import type { Target } from './drivers/driver.ts';

/** Bytes; a longer one is refused before it is parsed. */
const DEPLOY_FILE_MAX = 65_536;

/** What a target is made of. */
export interface TargetParts {
  readonly paths: Paths;
  readonly env: Env;
  readonly app: string;
  readonly file: DeployFile;
  readonly instance: Instance;
  /** Name of the release, its version and commit. */
  readonly release: string;
  readonly version: string;
  readonly commit: string;
  readonly log: DeployLog;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

/** Parts that are the same for every instance and release of an app. */
export type AppParts = Omit<TargetParts, 'file' | 'instance' | 'release' | 'version' | 'commit'>;

/** These parts for what must not be interrupted: going back, and stopping. */
export function partsOfApp({
  io,
  paths,
  app: { app },
  log,
  redact,
}: Pick<TargetParts, 'paths' | 'log' | 'redact'> & {
  readonly io: Io;
  readonly app: Pick<AppState, 'app'>;
}): AppParts {
  return { paths, env: io.env, app, log, redact, signal: new AbortController().signal };
}

/** The target, with its folders and its environment worked out. */
export function targetOf(parts: TargetParts): Target {
  const appPaths = parts.paths.app(parts.app);
  const paths = appPaths.instance(parts.instance.name);
  return {
    app: parts.app,
    instance: parts.instance,
    release: appPaths.release(parts.release),
    paths,
    start: parts.file.start,
    stop: parts.file.stop,
    env: {
      ...stepEnvironment(parts.env),
      RUNNER_APP: parts.app,
      RUNNER_INSTANCE: parts.instance.name,
      RUNNER_VERSION: parts.version,
      RUNNER_COMMIT: parts.commit,
      RUNNER_RELEASE: appPaths.release(parts.release),
      RUNNER_SHARED: paths.shared,
      ...(parts.instance.domain !== undefined && { RUNNER_DOMAIN: parts.instance.domain }),
      ...parts.instance.env,
    },
    log: parts.log,
    redact: parts.redact,
    signal: parts.signal,
  };
}

/**
 * `.deploy.yml` of a release, as it was deployed; undefined when it cannot be read any more.
 */
export function fileOfRelease(
  paths: Paths,
  app: string,
  release: Pick<Deployed, 'release'>,
): DeployFile | undefined {
  try {
    // A build may have put a pipe there, or a link to what has no end.
    const path = join(paths.app(app).release(release.release), DEPLOY_FILE);
    return readDeployFile(readIfThere(path, DEPLOY_FILE_MAX));
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/** An instance as a kept release describes it; undefined when that cannot be read any more. */
export function partsOfRelease(
  parts: AppParts,
  name: string,
  { release, version, commit }: Pick<Deployed, 'release' | 'version' | 'commit'>,
): TargetParts | undefined {
  const file = fileOfRelease(parts.paths, parts.app, { release });
  if (!file) return undefined;
  const known = file.instances.find((each) => each.name === name);
  const instance = known ?? { name, domain: undefined, env: {} };
  return { ...parts, file, instance, release, version, commit };
}
