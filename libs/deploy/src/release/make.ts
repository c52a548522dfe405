/** Making a release: export, shared paths, build. The running version is not touched. */
import { variablesOf } from '@runner/common/app-secrets/open';
import { stricter } from '@runner/common/config/build-limits';
import { readConfig } from '@runner/common/config/file';
import { buildLimitsOf } from '@runner/common/config/sandbox';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { removeTree } from '@runner/common/files/tree-change';
import { Failure } from '@runner/common/foundation/failure';
import type { Contents } from '../git/contents.ts';
import { exportCommit } from '../git/export.ts';
import type { GitSource } from '../git/source.ts';
import { runHook } from '../instances/hooks.ts';
import { keepFile } from '../instances/kept-file.ts';
import { jobTarget } from '../instances/target.ts';
import { markStage } from '../journal/mark.ts';
import type { Job } from '../journal/operation.ts';
import { reported } from '../report/reporter.ts';
import { asStepFailure, runStep, type Stage, StepFailure, shellStep } from '../run/step.ts';
import { prefixFor } from '../sandbox/limits.ts';
import { type Profile, refuseDetour } from '../sandbox/mounts.ts';
import {
  finishRelease,
  freeReleaseName,
  makeTemporary,
  submoduleFolder,
  temporaryRelease,
} from './folder.ts';
import { reasoned } from './reason.ts';
import { linkShared, lostLink, type Seed, takeBack } from './shared.ts';

/** A release that was made, and what it put into `shared/`. */
export interface Release {
  readonly name: string;
  readonly seeds: readonly Seed[];
}

/**
 * Exports and builds the commit in `.tmp-<deploy_id>` and renames that to a release. Throws a
 * StepFailure, after removing the unfinished folder.
 */
export async function makeRelease(
  job: Job,
  source: GitSource,
  { file, bytes, submodules }: Contents,
): Promise<Release> {
  const appPaths = job.paths.app(job.app.app);
  const temporary = temporaryRelease(appPaths, job.deployId);
  const [first] = file.instances as [Instance];
  const { shared } = appPaths.instance(first.name);
  let seeds: readonly Seed[] = [];
  let stage: Stage = 'export';
  try {
    await reported(job.reporter, `export ${job.version}`, async () => {
      makeTemporary(temporary);
      await exportCommit(source, job.commit, temporary);
      for (const { path, commit, source: inner } of submodules) {
        await exportCommit(inner, commit, submoduleFolder(temporary, path));
      }
      refuseDetour({ paths: job.paths, app: job.app.app }, shared);
      seeds = linkSharedOf(file, temporary, shared);
    });
    stage = 'build';
    // A mark is written durably, which takes time: only for a real build.
    if (hasBuild(file)) markStage(job, stage);
    await build(job, file, temporary);
    const lost = lostLink(temporary, shared, file.shared);
    if (lost) throw new StepFailure('build', `build: ${lost}`);
    stage = 'release';
    const name = freeReleaseName(appPaths, job.io.now(), job.commit);
    keepFile(appPaths, name, bytes);
    finishRelease(temporary, appPaths.release(name));
    return { name, seeds };
  } catch (error) {
    // Before the folder is removed, which makes room again.
    const failure = reasoned(asStepFailure(error, stage), temporary);
    takeBack(seeds);
    const problem = removeTree(temporary);
    if (problem) job.reporter.note(problem);
    throw failure;
  }
}

/** A missing shared file counts as the commit's fault: otherwise the timer would retry for ever. */
function linkSharedOf({ shared: entries }: DeployFile, release: string, shared: string): Seed[] {
  try {
    return linkShared(release, shared, entries);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'file_unreadable') throw error;
    throw new StepFailure('export', `export: ${error.message}`);
  }
}

function hasBuild({ build: { run }, hooks }: DeployFile): boolean {
  return run.length + hooks.pre_build.length + hooks.post_build.length > 0;
}

/** The secrets that `build.env` names; the build gets no others. */
function buildSecrets(
  { secrets, app }: Job,
  { build: { env } }: DeployFile,
  { name }: Instance,
): Record<string, string> {
  const all = variablesOf(secrets.today(name));
  const missing = env.find((variable) => !Object.hasOwn(all, variable));
  if (missing === undefined) return Object.fromEntries(env.map((each) => [each, all[each] ?? '']));
  const words = `build: ${missingSecret(app.app, missing)}`;
  throw new StepFailure('build', words, 'operator');
}

/** A secret that a build wants, and how to set it. */
export function missingSecret(app: string, name: string): string {
  return `build.env lists ${name}, which is not set: run runner env set ${app} ${name}`;
}

async function build(job: Job, file: DeployFile, folder: string): Promise<void> {
  const [first] = file.instances as [Instance];
  const secrets = buildSecrets(job, file, first);
  const { shared } = job.paths.app(job.app.app).instance(first.name);
  const limits = stricter(buildLimitsOf(readConfig(job.paths)), file.build.limits);
  const folders = { release: folder, shared, network: limits.network };
  const target = {
    ...jobTarget(job, file, first, 'none', secrets),
    confine: (profile: Profile) => job.sandbox.confine(profile, folders),
  };
  const env = { ...target.env, RUNNER_RELEASE: folder };
  const prefix = hasBuild(file)
    ? prefixFor(limits, target.outerEnv, target.confine('build'))
    : undefined;
  await runHook(job, target, 'pre_build', { folder, prefix });
  const until = job.io.elapsed() + file.build.timeout;
  for (const command of file.build.run) {
    const timeout = Math.max(1, Math.ceil(until - job.io.elapsed()));
    const confinement = target.confine('build');
    const how = { cwd: folder, env, timeout, confinement, prefix };
    const step = shellStep({ stage: 'build', command, ...how });
    await reported(job.reporter, `build: ${command}`, () => runStep(job.log, job.signal, step));
  }
  await runHook(job, target, 'post_build', { folder, prefix });
}
