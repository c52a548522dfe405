/** Making a release: export, shared paths, build. The running version is not touched. */

import { variablesOf } from '@runner/common/app-secrets/open';
import { traceParent } from '@runner/common/audit/trace';
import { stricter } from '@runner/common/config/build-limits';
import { readConfig } from '@runner/common/config/file';
import { buildLimitsOf } from '@runner/common/config/sandbox';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { Failure } from '@runner/common/foundation/failure';
import { previewedApp } from '@runner/common/foundation/names';
import type { Contents } from '../git/contents.ts';
import { exportCommit } from '../git/export.ts';
import type { GitSource } from '../git/source.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { hookSteps } from '../instances/hooks.ts';
import { keepFile } from '../instances/kept-file.ts';
import { ceilingOf, networkOf } from '../instances/network.ts';
import { targetOf } from '../instances/target.ts';
import { noteSeed } from '../journal/journal.ts';
import type { Deploy } from '../journal/operation.ts';
import type { Step } from '../journal/step.ts';
import { asStepFailure, runStep, StepFailure, shellStep } from '../run/step.ts';
import { prefixFor } from '../sandbox/limits.ts';
import { type Profile, refuseDetour } from '../sandbox/mounts.ts';
import { sealRelease } from '../statement/seal.ts';
import {
  finishRelease,
  makeTemporary,
  submoduleFolder,
  syncFiles,
  temporaryRelease,
} from './folder.ts';
import { linkShared, lostLink } from './shared.ts';

interface ReleaseRequest {
  readonly source: GitSource;
  readonly contents: Contents;
  readonly name: string;
}

/** The steps that export and build a commit in `.tmp-<deploy_id>` and rename that to a release. */
export function* releaseSteps(op: Deploy, request: ReleaseRequest): Generator<Step> {
  const { source, contents, name } = request;
  const { file, bytes, submodules } = contents;
  const appPaths = op.paths.app(op.app.app);
  const folder = temporaryRelease(appPaths, op.deployId);
  const [first] = file.instances as [Instance];
  const { shared } = appPaths.instance(first.name);
  yield {
    stage: 'export',
    title: `export ${op.version}`,
    async run() {
      makeTemporary(folder);
      await exportCommit(source, op.commit, folder);
      for (const { path, commit, source: inner } of submodules) {
        await exportCommit(inner, commit, submoduleFolder(folder, path));
      }
      refuseDetour({ paths: op.paths, app: op.app.app }, shared);
      linkSharedOf(op, file, folder, shared);
    },
  };
  yield* buildSteps(op, file, folder);
  yield {
    stage: 'release',
    isBrief: true,
    async run() {
      const lost = lostLink(folder, shared, file.shared);
      if (lost) throw new StepFailure('build', `build: ${lost}`);
      const synced = syncFiles(op.io, folder, op.signal);
      await sealRelease(op, { folder, name, source, contents });
      keepFile(appPaths, name, bytes);
      await synced;
      finishRelease(folder, appPaths.release(name));
    },
  };
}

/** A missing shared file counts as the commit's fault: otherwise the timer would retry for ever. */
function linkSharedOf(
  op: Deploy,
  { shared: entries }: DeployFile,
  release: string,
  shared: string,
): void {
  try {
    linkShared(release, shared, entries, (seed) => noteSeed(op, seed));
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'file_unreadable') throw error;
    throw new StepFailure('export', `export: ${error.message}`);
  }
}

/** The secrets that `build.env` names; the build gets no others. */
function buildSecrets(
  { secrets, app }: Deploy,
  { build: { env } }: DeployFile,
  { name }: Instance,
): Record<string, string> {
  const all = variablesOf(secrets.today(name));
  const missing = env.find((variable) => !Object.hasOwn(all, variable));
  if (missing === undefined) return Object.fromEntries(env.map((each) => [each, all[each] ?? '']));
  const words = `build: ${missingSecret(app.app, missing)}`;
  throw new StepFailure('build', words, { blame: 'operator' });
}

/** A secret that a build wants, and how to set it. */
export function missingSecret(app: string, name: string): string {
  return `build.env lists ${name}, which is not set: run ${setSecret(app, name)}`;
}

/** The command that sets a secret of an app, or of all previews of one. */
export function setSecret(app: string, name: string): string {
  const of = previewedApp(app);
  return `runner env set ${of === undefined ? `${app} ${name}` : `${of} ${name} --preview`}`;
}

export function* buildSteps(op: Deploy, file: DeployFile, folder: string): Generator<Step> {
  try {
    yield* commandsOf(op, file, folder);
  } catch (error) {
    throw asStepFailure(error, 'build');
  }
}

function* commandsOf(op: Deploy, file: DeployFile, folder: string): Generator<Step> {
  const { hooks, build } = file;
  const [first] = file.instances as [Instance];
  const secrets = buildSecrets(op, file, first);
  if (build.run.length + hooks.pre_build.length + hooks.post_build.length === 0) return;
  const { version, commit } = op;
  const { shared } = op.paths.app(op.app.app).instance(first.name);
  const most = buildLimitsOf(readConfig(op.paths), op.app.app);
  const plain = targetOf(op, { file, instance: first, release: 'none', version, commit, secrets });
  const TRACEPARENT = traceParent(op.app.app, op.deployId);
  const env = { ...plain.env, RUNNER_RELEASE: folder, TRACEPARENT };
  const { outerEnv } = plain;
  const folders = { release: folder, shared };
  const list = { key: 'build.network', ceiling: ceilingOf(op, 'build'), own: build.limits.network };
  const { network, run, summarize } = networkOf(op, { ...list, folders, env, outerEnv });
  const confine = (profile: Profile) => op.sandbox.confine(profile, { ...folders, network });
  const target: Target = { ...plain, confine };
  const prefix = prefixFor(stricter(most, build.limits), outerEnv);
  function* commands(): Generator<Step> {
    yield* hookSteps(op, target, 'pre_build', { folder, prefix });
    const until = op.io.elapsed() + build.timeout;
    for (const command of build.run) {
      const start = () => {
        const timeout = Math.max(1, Math.ceil(until - op.io.elapsed()));
        const confinement = target.confine('build');
        const how = { cwd: folder, env, timeout, limit: build.timeout, confinement, prefix };
        return runStep(op.log, op.signal, shellStep({ stage: 'build', command, ...how }));
      };
      yield { stage: 'build', title: `build: ${command}`, run: start };
    }
    yield* hookSteps(op, target, 'post_build', { folder, prefix });
  }
  for (const step of commands()) yield { ...step, run: () => run(async () => step.run()) };
  yield { stage: 'build', isBrief: true, run: summarize };
}
