/** Whether the programs that a deploy needs are installed, and new enough. */

import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { orElse } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { type Findings, orOk, problem, warning } from '../foundation/finding.ts';
import { runFor } from '../foundation/program.ts';

/** The oldest version that works, as in package.json. */
const NODE: VersionNumber = [20, 18];
/** The first with --end-of-options. */
const GIT_OLDEST: VersionNumber = [2, 24];
/** The first with GIT_CONFIG_GLOBAL: older versions read the user's own settings. */
const GIT_WANTED: VersionNumber = [2, 32];
/** Program -> Debian package. */
const NEEDED = { flock: 'util-linux', sh: 'dash', tar: 'tar' } as const;

type VersionNumber = readonly [major: number, minor: number];

export async function programs({ io }: Server): Promise<Findings> {
  const path = io.env.PATH ?? '';
  const git = await runFor(io, 'git', ['--version']);
  const gitVersion = versionIn(git?.stdout ?? '');
  const missing = Object.entries(NEEDED)
    .filter(([program]) => !isOnPath(program, path))
    .map(([program, from]) => problem(`${program} is missing`, `apt-get install ${from}`));
  return orOk(
    [nodeFound(), gitFound(gitVersion), missing],
    `git ${gitVersion?.join('.')} and Node ${process.versions.node} are new enough`,
  );
}

function versionIn(text: string): VersionNumber | undefined {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor)];
}

const isOlder = (a: VersionNumber, b: VersionNumber) =>
  a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);

function nodeFound(): Findings {
  const { node } = process.versions;
  const version = versionIn(node);
  if (version && !isOlder(version, NODE)) return [];
  return problem(
    `Node ${node} is too old: ${NODE.join('.')} or newer is needed`,
    'apt-get install nodejs',
  );
}

function gitFound(version: VersionNumber | undefined): Findings {
  const install = 'apt-get install git';
  if (version === undefined) return problem('git is missing or does not run', install);
  const text = version.join('.');
  if (isOlder(version, GIT_OLDEST))
    return problem(`git ${text} is too old: ${GIT_OLDEST.join('.')} or newer is needed`, install);
  if (isOlder(version, GIT_WANTED))
    return warning(
      `git ${text} reads its user's settings; ${GIT_WANTED.join('.')} does not`,
      install,
    );
  return [];
}

function isOnPath(program: string, path: string): boolean {
  const isProgram = (file: string) => {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  };
  const folders = path.split(':').filter(isAbsolute);
  return folders.some((folder) => orElse(() => isProgram(join(folder, program)), false));
}
