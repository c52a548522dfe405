/** The channels that an app chooses in its `.deploy.yml`. */
import { join } from 'node:path';
import { findApp } from '@runner/common/apps/store';
import { DEPLOY_FILE, type NotifyChoice, readDeployFile } from '@runner/common/deploy-file/read';
import { isThere, readIfThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import { isAppName } from '@runner/common/foundation/names';
import type { Paths } from '@runner/common/foundation/paths';

/** Larger than any hand-written file, in bytes. */
const DEPLOY_FILE_MAX = 65_536;

/**
 * The `notify` of the active release's `.deploy.yml`; all channels for an app that is not registered,
 * has no active release or whose files cannot be read.
 */
export function appChoice(
  paths: Paths,
  project: string,
  instance: string,
  warn: (text: string) => void,
): NotifyChoice {
  if (!isAppName(project)) return 'all';
  try {
    const app = findApp(paths, project);
    if (!app) return 'all';
    const { instance: pathsOf } = paths.app(project);
    // The instance comes from outside: only valid names become a path.
    const names = [instance, ...Object.keys(app.instances)].filter(isAppName);
    const current = names.map((name) => pathsOf(name).current).find(isThere);
    if (current === undefined) return 'all';
    return readDeployFile(readIfThere(join(current, DEPLOY_FILE), DEPLOY_FILE_MAX)).notify;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    warn(`${project}: ${error.message}; the message goes to every active channel`);
    return 'all';
  }
}
