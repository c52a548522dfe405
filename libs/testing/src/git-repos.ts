/**
 * Bare repositories for a test and the commits in them, made by git itself with a fixed author and
 * date and no configuration of the user's: the same commits get the same ids everywhere.
 */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const AUTHOR = {
  GIT_AUTHOR_NAME: 'Ada Example',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada Example',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};

/** 2024-01-01T00:00:00Z; every commit is a minute later than the one before. */
const FIRST_COMMIT_TIME = 1_704_067_200;

/** The environment in which git reads nobody's configuration and asks nobody. */
export function gitEnvironment(): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    LANG: 'C.UTF-8',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
  };
}

export interface CommitOptions {
  /** Default `main`. Made from the default branch when it does not exist. */
  readonly branch?: string;
  /** An annotated tag put on the commit; moved when it exists. */
  readonly tag?: string;
  /** Paths of `files` that get mode 0755. */
  readonly executable?: readonly string[];
  /** The commit replaces the history of the branch: a force push. */
  readonly force?: boolean;
}

/** Content by path; `null` deletes, `{ link }` makes a symlink. Other files stay. */
export type Files = Readonly<
  Record<string, string | Uint8Array | null | { readonly link: string }>
>;

export interface GitRepos {
  /** Absolute path of a bare repository, whether it exists or not. */
  path(name: string): string;
  /** Makes an empty repository `owner/name` with `main` as its default branch. */
  createRepo(name: string): Promise<void>;
  /** Adds a commit and resolves its full id. */
  commit(name: string, files: Files, message: string, options?: CommitOptions): Promise<string>;
  deleteBranch(name: string, branch: string): Promise<void>;
  /** The full id that a branch or tag points to; null when there is none. */
  head(name: string, ref?: string): Promise<string | null>;
}

function writeFiles(folder: string, files: Files, executable: readonly string[]): void {
  for (const [path, content] of Object.entries(files)) {
    const absolute = join(folder, path);
    rmSync(absolute, { recursive: true, force: true });
    if (content === null) continue;
    mkdirSync(dirname(absolute), { recursive: true });
    if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, absolute);
    else {
      writeFileSync(absolute, content);
      chmodSync(absolute, executable.includes(path) ? 0o755 : 0o644);
    }
  }
}

/** Keeps its bare repositories in `folder/bare` and one private work tree of each in `folder/work`. */
export function gitRepos(folder: string): GitRepos {
  const path = (name: string) => join(folder, 'bare', `${name}.git`);
  let commits = 0;

  const git = async (cwd: string, args: readonly string[]): Promise<string> => {
    const date = `${FIRST_COMMIT_TIME + commits * 60} +0000`;
    const dates = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    const env = { ...gitEnvironment(), ...AUTHOR, ...dates };
    const quiet = [
      '-c',
      'gc.auto=0',
      '-c',
      'maintenance.auto=false',
      '-c',
      'advice.detachedHead=false',
    ];
    const { stdout } = await execute('git', [...quiet, ...args], { cwd, env, maxBuffer: 1 << 26 });
    return stdout.trim();
  };

  const head = async (name: string, ref = 'main'): Promise<string | null> => {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
    return git(path(name), args).catch(() => null);
  };

  const workTree = async (name: string): Promise<string> => {
    const work = join(folder, 'work', name);
    if (!existsSync(work)) {
      mkdirSync(work, { recursive: true });
      await git(work, ['init', '--quiet', '--initial-branch=main']);
      await git(work, ['remote', 'add', 'origin', path(name)]);
    }
    await git(work, ['fetch', '--quiet', '--prune', 'origin']);
    return work;
  };

  return {
    path,
    head,
    async createRepo(name) {
      mkdirSync(path(name), { recursive: true });
      await git(path(name), ['init', '--quiet', '--bare', '--initial-branch=main']);
      // What a code host allows: the exact commit may be asked for, a push may be forced.
      await git(path(name), ['config', 'uploadpack.allowAnySHA1InWant', 'true']);
      await git(path(name), ['config', 'uploadpack.allowFilter', 'true']);
    },
    async commit(name, files, message, { branch = 'main', tag, executable = [], force } = {}) {
      const work = await workTree(name);
      const parent = (await head(name, `refs/heads/${branch}`)) ?? (await head(name));
      await git(work, ['checkout', '--quiet', '--orphan', 'next']);
      await git(work, ['reset', '--quiet', '--hard', ...(parent === null ? [] : [parent])]);
      if (parent !== null && force === true) {
        // The files stay, the history does not.
        await git(work, ['update-ref', '-d', 'HEAD']);
      }
      writeFiles(work, files, executable);
      await git(work, ['add', '--all', '--force']);
      await git(work, ['commit', '--quiet', '--allow-empty', '--message', message]);
      const id = await git(work, ['rev-parse', 'HEAD']);
      await git(work, ['push', '--quiet', '--force', 'origin', `HEAD:refs/heads/${branch}`]);
      if (tag !== undefined) {
        await git(work, ['tag', '--annotate', '--force', '--message', tag, tag, id]);
        await git(work, ['push', '--quiet', '--force', 'origin', `refs/tags/${tag}`]);
      }
      await git(work, ['checkout', '--quiet', '--detach']);
      await git(work, ['branch', '--quiet', '--delete', '--force', 'next']);
      commits += 1;
      return id;
    },
    async deleteBranch(name, branch) {
      await git(path(name), ['update-ref', '-d', `refs/heads/${branch}`]);
    },
  };
}
