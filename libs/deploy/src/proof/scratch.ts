/** A root of its own for a proof. Nothing of it is left, even if this process is killed. */
import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '@runner/common/config/file';
import { buildLimitsOf, sandboxSettingOf } from '@runner/common/config/sandbox';
import { isClosed, isThere, makeFolder } from '@runner/common/files/read';
import { removeTree } from '@runner/common/files/tree-change';
import { writeWhole } from '@runner/common/files/write';
import { orFail } from '@runner/common/foundation/attempt';
import { type Paths, pathsOf, type Server } from '@runner/common/foundation/paths';
import { modeIn } from '../sandbox/sandbox.ts';

export interface ScratchRoot {
  readonly paths: Paths;
  /** Removes it; what runs of it has ended. */
  remove(): void;
}

/** On the disk, which has more room than a /tmp in memory. */
const FOLDER = '/var/tmp';

/**
 * Waits for the end of this process. If it does not say that it has cleaned up, ends what was started for
 * a release of the root, and removes the root.
 */
const WATCH = `read -r _ && exit
for round in 1 2 3 4 5; do
  for each in /proc/[0-9]*; do
    grep -qzsF "RUNNER_RELEASE=$1/" "$each/environ" && kill -9 "\${each#/proc/}"
  done
done 2>/dev/null
rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }`;

/**
 * Makes a scratch root for an app, with what config.yml of the server says of its sandbox and builds. Beside the
 * server's apps it has to be in their root, which their sandboxes hide: in /var/tmp they could change it.
 */
export function makeScratch(
  { io, paths }: Server,
  app: string,
  parent = io.env.TMPDIR ?? FOLDER,
): ScratchRoot {
  const made = orFail(
    () => mkdtempSync(join(parent, 'runner-init-')),
    `make a folder in ${parent}`,
  );
  const root = realpathSync(made);
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'runner-init', root], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.on('error', () => {});
  watcher.stdin.on('error', () => {});
  watcher.unref();
  const scratch = pathsOf(root);
  const remove = () => {
    removeTree(root);
    watcher.stdin.end('done\n');
  };
  try {
    furnish({ io, paths }, scratch, app);
  } catch (error) {
    remove();
    throw error;
  }
  return { paths: scratch, remove };
}

function furnish({ io, paths }: Server, scratch: Paths, app: string): void {
  // A checkout is proven without the settings of a server that this user may not read.
  const file = { name: paths.config, code: 'config_invalid' } as const;
  const config = isClosed(paths.config) ? { file, tree: undefined } : readConfig(paths);
  const { mode, allow } = sandboxSettingOf(config, app, modeIn(io.env));
  const limits = buildLimitsOf(config, app);
  const settings = { sandbox: { mode, allow: { [app]: allow } }, build: limits };
  writeWhole(scratch.config, JSON.stringify(settings), 0o600, false);
  makeFolder(scratch.app(app).releases);
  // Logins of package managers, and their caches.
  const { home } = paths.app(app);
  if (isThere(home)) symlinkSync(home, scratch.app(app).home);
}
