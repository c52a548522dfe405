/**
 * `.deploy.yml` of each release, kept byte for byte outside the release: a build may remove or change
 * the copy in it.
 */
import { spawnSync } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { findApp } from '@runner/common/apps/store';
import { asPreview } from '@runner/common/deploy-file/as-preview';
import {
  DEPLOY_FILE,
  DEPLOY_FILE_MAX,
  type DeployFile,
  readDeployFile,
} from '@runner/common/deploy-file/read';
import {
  isThere,
  makeFolder,
  namesIn,
  readIfThere,
  removeIfThere,
} from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { previewedApp } from '@runner/common/foundation/names';
import type { AppPaths, Paths } from '@runner/common/foundation/paths';
import { onMirror } from '../git/repository.ts';
import type { Version } from '../journal/operation.ts';
import { gitEnvironment } from '../run/environment.ts';

type KeptRelease = Pick<Version, 'release' | 'commit'>;

/** For a question to the mirror, in milliseconds. */
const GIT_TIMEOUT = 10_000;

/** Keeps the file of a release; without one, an empty file. */
export function keepFile(paths: AppPaths, release: string, bytes: Buffer | undefined): void {
  makeFolder(dirname(paths.fileOf(release)));
  writeWhole(paths.fileOf(release), bytes ?? '', 0o640);
}

/** Removes the files of releases that no longer exist. */
export function pruneFiles(paths: AppPaths): void {
  const names = namesIn(dirname(paths.fileOf('')));
  for (const pathOf of [paths.fileOf, paths.statementOf, paths.treeOf]) {
    const suffix = basename(pathOf(''));
    for (const name of names.filter((each) => each.endsWith(suffix))) {
      const release = name.slice(0, -suffix.length);
      if (!isThere(paths.release(release))) removeIfThere(pathOf(release));
    }
  }
}

/** Whether a release can be made active again: it is there, and so is its `.deploy.yml`. */
export function isRestorable(paths: Paths, app: string, version: KeptRelease): boolean {
  const isKept = isThere(paths.app(app).release(version.release));
  return isKept && fileOfRelease(paths, app, version) !== undefined;
}

/** `.deploy.yml` of a release as it was deployed; undefined if it cannot be read. */
export function fileOfRelease(
  paths: Paths,
  app: string,
  version: KeptRelease,
): DeployFile | undefined {
  const read = () => {
    const file = readDeployFile(bytesOfRelease(paths, app, version), DEPLOY_FILE, true);
    const preview = previewedApp(app) === undefined ? undefined : findApp(paths, app)?.preview;
    return preview ? asPreview(file, preview) : file;
  };
  return unlessFailure(read, undefined);
}

/** The same, byte for byte; undefined without a file in the commit. Throws `file_unreadable`. */
export function bytesOfRelease(
  paths: Paths,
  app: string,
  version: KeptRelease,
): Buffer | undefined {
  const appPaths = paths.app(app);
  const bytes = readIfThere(appPaths.fileOf(version.release), DEPLOY_FILE_MAX);
  if (bytes) return bytes.length > 0 ? bytes : undefined;
  // Made by 0.1.0. A build may have left a pipe there, or a link to an endless file.
  const copy = join(appPaths.release(version.release), DEPLOY_FILE);
  return readIfThere(copy, DEPLOY_FILE_MAX) ?? inMirror(appPaths, version.commit);
}

function inMirror({ repo: cwd }: AppPaths, commit: string): Buffer | undefined {
  const args = ['cat-file', 'blob', `${commit}:${DEPLOY_FILE}`];
  const env = { ...gitEnvironment({}), ...onMirror(cwd) };
  const { status, stdout } = spawnSync('git', args, { cwd, env, timeout: GIT_TIMEOUT });
  return status === 0 ? stdout : undefined;
}
