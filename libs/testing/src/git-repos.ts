/**
 * Bare repositories for a test and the commits in them, made by git itself with a fixed author and
 * date and no configuration of the user's: the same commits get the same ids everywhere.
 */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Files, importStream } from './git-import.ts';

/** 2024-01-01T00:00:00Z; every commit is a minute later than the one before. */
const FIRST_COMMIT_TIME = 1_704_067_200;

/** The environment in which git reads no configuration and never prompts. */
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

/** Where a commit goes, and how. */
export interface CommitOptions {
  /** Default `main`. Begins at the head of `main` when it does not exist. */
  readonly branch?: string;
  /** An annotated tag put on the commit; moved when it exists. */
  readonly tag?: string;
  /** Paths of `files` that get mode 0755. */
  readonly executable?: readonly string[];
  /** The commit keeps the other files, but replaces the history of the branch: a force push. */
  readonly force?: boolean;
}

/** Bare repositories below one folder. */
export interface GitRepos {
  /** Absolute path of a bare repository, whether it exists or not. */
  path(name: string): string;
  /** Makes an empty repository `owner/name` with `main` as its default branch. */
  createRepo(name: string, options?: { old?: boolean }): Promise<void>;
  /** Adds a commit and resolves its full id. */
  commit(name: string, files: Files, message: string, options?: CommitOptions): Promise<string>;
  deleteBranch(name: string, branch: string): Promise<void>;
  /** The full id that a branch (default `main`) or tag points to; null when there is none. */
  head(name: string, ref?: string): Promise<string | null>;
}

function git(cwd: string, args: readonly string[], stdin?: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: gitEnvironment(), maxBuffer: 1 << 26 };
    const child = execFile('git', args, options, (error, stdout) => {
      if (error === null) resolve(stdout.trim());
      else reject(error);
    });
    // When git ends early, its message is what counts.
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin);
  });
}

/** Keeps its bare repositories below `folder`, as `owner/name.git`. */
export function gitRepos(folder: string): GitRepos {
  const path = (name: string) => join(folder, `${name}.git`);
  let commits = 0;

  const id = (name: string, object: string) =>
    git(path(name), ['rev-parse', '--verify', '--quiet', '--end-of-options', object]).catch(
      () => null,
    );

  return {
    path,
    head: (name, ref = 'main') => id(name, `${ref}^{commit}`),
    async createRepo(name, { old = false } = {}) {
      mkdirSync(path(name), { recursive: true });
      const settings = {
        'uploadpack.allowAnySHA1InWant': String(!old),
        'uploadpack.allowFilter': String(!old),
      };
      await git(path(name), ['init', '--quiet', '--bare', '--initial-branch=main', '--template=']);
      // What a code host allows: an exact commit may be asked for.
      for (const [key, value] of Object.entries(settings)) {
        await git(path(name), ['config', key, value]);
      }
    },
    async commit(name, files, message, { branch = 'main', tag, executable = [], force } = {}) {
      const parent =
        (await id(name, `refs/heads/${branch}^{commit}`)) ?? (await id(name, 'main^{commit}'));
      const orphan = force === true && parent !== null;
      const stream = importStream({
        branch,
        message,
        files,
        executable,
        parent: orphan ? null : parent,
        tree: orphan ? await id(name, `${parent}^{tree}`) : null,
        tag,
        time: FIRST_COMMIT_TIME + commits * 60,
      });
      commits += 1;
      const args = ['fast-import', '--quiet', '--force', '--done', '--date-format=raw'];
      return git(path(name), args, stream);
    },
    async deleteBranch(name, branch) {
      await git(path(name), ['update-ref', '-d', `refs/heads/${branch}`]);
    },
  };
}
