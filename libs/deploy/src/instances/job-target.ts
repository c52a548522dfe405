/** What of a deploy concerns one instance. */
import type { AppState, Deployed } from '@runner/common/apps/state';
import type { DeployFile, Instance } from '@runner/common/deploy-file/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Job } from '../record/job.ts';
import type { TargetParts } from './target.ts';

/** The version that an instance had before this deploy. */
export function previousOf(job: Job, instance: string): Deployed | null {
  return job.app.instances[instance]?.current ?? null;
}

/** Parts of a target of this deploy. */
export function partsOf(
  job: Job,
  file: DeployFile,
  instance: Instance,
  release: string,
): TargetParts {
  const { paths, log, redact, signal, version, commit } = job;
  return {
    paths,
    env: job.io.env,
    app: job.app.app,
    file,
    instance,
    release,
    version,
    commit,
    log,
    redact,
    signal,
  };
}

/**
 * The version that an app as a whole had before this deploy: that of the first of these instances
 * that has one, else of any other.
 */
export function previousOfAll(app: AppState, names: readonly string[]): Deployed | null {
  const own = names.map((name) => app.instances[name]?.current);
  const others = Object.values(app.instances).map(({ current }) => current);
  return [...own, ...others].find((version) => version) ?? null;
}

/**
 * `.deploy.yml` with one instance alone, the one that was asked for.
 * Throws `instance_not_found`.
 */
export function onlyInstance(
  file: DeployFile,
  name: string | undefined,
  version: string,
): DeployFile {
  if (name === undefined) return file;
  const instances = file.instances.filter((each) => each.name === name);
  if (instances.length > 0) return { ...file, instances };
  const known = file.instances.map((each) => each.name).join(', ');
  throw new Failure(
    'instance_not_found',
    `.deploy.yml of ${version} has no instance '${name.slice(0, 80)}'; it has: ${known}`,
  );
}
