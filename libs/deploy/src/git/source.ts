/** The repository of an app, and the result of a call of git. */
import type { TagRule } from '@runner/common/apps/state';
import type { Io } from '@runner/common/foundation/io';
import type { Secret } from '@runner/common/secrets/secret';

/** A repository on the code host, and its mirror here. */
export interface GitSource {
  readonly io: Io;
  readonly app: string;
  readonly repo: string;
  /** Empty while tags are followed. */
  readonly branch: string;
  readonly tags?: TagRule | undefined;
  /** The code host's address for git, without a trailing slash. */
  readonly gitUrl: string;
  /** The user name that goes with the token. */
  readonly gitUser: string;
  /**
   * The repository of a submodule and the login of its host; undefined if no host is known there.
   * Throws `name_invalid`.
   */
  elsewhere(address: string): Elsewhere | undefined;
  readonly token: Secret | undefined;
  /** Makes the token of a GitHub App, once; instead of `token`. */
  readonly mint: (() => Promise<Secret>) | undefined;
  /** Folder of the bare mirror. */
  readonly mirror: string;
  /** The page of the host that compares two commits, if it has one. */
  compare(from: string, to: string): string | undefined;
  readonly signal: AbortSignal;
}

/** What of a source is another for a submodule. */
export interface Elsewhere
  extends Pick<GitSource, 'repo' | 'gitUrl' | 'gitUser' | 'token' | 'mint'> {
  /** Of its mirror, among those of the submodules. */
  readonly folder: string;
}

/** How a call of git ended. */
export interface GitResult {
  readonly status: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly timedOut: boolean;
}
