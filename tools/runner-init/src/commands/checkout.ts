/** Where init works: a checkout of the caller's, or the head of what an app follows. */
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { changeApp } from '@runner/common/apps/change';
import { withOperatorFile } from '@runner/common/apps/operator-file';
import { requireApp } from '@runner/common/apps/store';
import { DEPLOY_FILE, DEPLOY_FILE_MAX } from '@runner/common/deploy-file/read';
import { makeFolder, readTextIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { orFail } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Server } from '@runner/common/foundation/paths';
import { type Redactor, redactor } from '@runner/common/secrets/redactor';
import { harmlessLine } from '@runner/common/text/harmless';
import { contentsOf } from '@runner/deploy/git/contents';
import { exportCommit } from '@runner/deploy/git/export';
import { sourceOf } from '@runner/deploy/git/open';
import { fetchWanted } from '@runner/deploy/git/ref';
import { underLock } from '@runner/deploy/journal/lock';
import type { ScratchRoot } from '@runner/deploy/proof/scratch';
import { submoduleFolder } from '@runner/deploy/release/folder';
import { copyOf } from './copy.ts';

/** A repository, and where its `.deploy.yml` goes. */
export interface Workplace {
  /** The top of the repository. */
  readonly top: string;
  /** The folder below it that is meant. */
  readonly dir: string | undefined;
  /** `.deploy.yml` as it is now. */
  readonly existing: string | undefined;
  /** Whose that is, in words. */
  readonly found: string;
  /** What is written, in words. */
  readonly target: string;
  readonly redact: Redactor;
  /** Copies what a commit of it would have. */
  fill(folder: string, signal: AbortSignal): Promise<void>;
  /** A file that stands for a shared one. */
  sharedFile(path: string): string | undefined;
  write(text: string): void;
}

/** Levels above a folder that are searched for its repository. */
const LEVELS = 40;

/** The checkout around a folder. Throws `file_unreadable`. */
export function checkoutAt(io: Io, given: string | undefined): Workplace {
  const path = resolve(io.cwd, given ?? '.');
  const look = () => statSync(path, { throwIfNoEntry: false });
  if (!orFail(look, `read ${harmlessLine(path)}`, 'file_unreadable')?.isDirectory())
    throw new Failure('file_unreadable', `${harmlessLine(path)} is not a directory`);
  const folder = realpathSync(path);
  const top = topOf(folder, io.env.HOME) ?? folder;
  const file = join(top, DEPLOY_FILE);
  const target = harmlessLine(relative(io.cwd, file) || file);
  // sudo becomes the owner of runner's root, for whom git reads no repository of another user.
  if (io.env.SUDO_USER && io.uid !== 0 && statSync(top).uid !== io.uid)
    throw new Failure(
      'file_unreadable',
      `${harmlessLine(top)} belongs to another user: run it without sudo`,
    );
  return {
    top,
    dir: relative(top, folder) || undefined,
    existing: readTextIfThere(file, DEPLOY_FILE_MAX),
    found: target,
    target,
    redact: redactor(),
    fill: (into, signal) => copyOf(io, top, into, signal),
    sharedFile(shared) {
      const own = join(top, shared);
      return lstatSync(own, { throwIfNoEntry: false })?.isFile() ? own : undefined;
    },
    write: (text) => writeWhole(file, text, 0o644),
  };
}

/** The folder with `.git`: this one, or one above; not a home that is a repository. */
function topOf(folder: string, home: string | undefined): string | undefined {
  let path = folder;
  for (let level = 0; level < LEVELS; level += 1) {
    if (existsSync(join(path, '.git')) && (path === folder || path !== home)) return path;
    if (dirname(path) === path) return undefined;
    path = dirname(path);
  }
  return undefined;
}

/** A name for the app of a checkout. */
export function nameFor({ top }: Workplace): string {
  const name = basename(top)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name.slice(0, 30) || 'app';
}

/** The head of what an app follows, exported into a scratch root. Throws what fetching throws. */
export async function headOf(
  { io, paths }: Server,
  name: string,
  scratch: ScratchRoot,
  signal: AbortSignal,
): Promise<Workplace> {
  const top = join(scratch.paths.root, 'checkout');
  const { app } = requireApp(paths, name);
  return underLock({ io, paths, app, signal }, 'init', async () => {
    const state = requireApp(paths, app);
    const { source, redact } = sourceOf({ io, paths, signal }, state);
    const { commit } = await fetchWanted(source, undefined);
    const { bytes, submodules } = await contentsOf(source, commit, undefined);
    const target = `the operator's .deploy.yml of ${app}`;
    const kept = state.deploy_file;
    const isCommits = bytes !== undefined && !kept?.wins;
    makeFolder(top);
    await exportCommit(source, commit, top);
    for (const { path, commit: at, source: inner } of submodules)
      await exportCommit(inner, at, submoduleFolder(top, path));
    return {
      top,
      dir: undefined,
      existing: isCommits ? bytes.toString('utf8') : kept?.text,
      found: isCommits ? 'the .deploy.yml of the repository' : target,
      target,
      redact,
      fill: (into, aborted) => copyOf(io, top, into, aborted),
      sharedFile: () => undefined,
      write(text) {
        changeApp({ io, paths, command: 'init', app }, (now) => ({
          ...now,
          ...withOperatorFile(io, { text, wins: bytes !== undefined }),
        }));
      },
    };
  });
}
