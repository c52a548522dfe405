/** Previews: apps of their own, made of an open pull request or a branch of another app. */

import { utcText } from '../text/time.ts';

export interface PreviewSleep {
  /** After this long without a request [default: 15m]. */
  sleep_after?: string;
  /** Awake at once, of all previews of an app. */
  max_awake?: number;
}

/** `previews` of an app: which previews it has, and since when. */
export interface PreviewSettings extends PreviewSleep {
  /** With `{n}` in its first label: the number, or what is made of a branch's name. */
  domain: string;
  /** Most of them at once. */
  max: number;
  /** How long one stays after its last push, in ms. */
  ttl: number;
  /** Only pull requests with this label; of a fork, the one that lets a commit in [default: preview]. */
  label?: string;
  /** Branches instead of pull requests. `*` is any text. */
  branches?: string;
  /** Their deploys are announced as those of the app. */
  notify?: true;
  since: string;
  by: string;
  /** What is known of each that the host listed last, by key. */
  seen?: Record<string, SeenPreview>;
  /** Since when and why the code host cannot be asked. */
  check_failed?: PreviewsUnasked;
  /** Those that are open and have no preview, and why. */
  waiting?: WaitingPreview[];
}

/** Since when and why the code host cannot be asked. */
export interface PreviewsUnasked {
  since: string;
  /** A code, and its sentence. */
  error: string;
  message: string;
  announced?: true;
}

/** What an open pull request waits for, in words. */
export interface WaitingPreview {
  key: string;
  why: string;
}

/** What is known of an open pull request or branch. */
export interface SeenPreview {
  commit: string;
  /** When the commit was first seen, in ISO 8601: its push. */
  at: string;
  /** The same by the clock of the host; absent: it does not say. */
  host_at?: string;
  /** When an operator asked for it: as if it was pushed then. */
  opened?: string;
  /** An operator removed it: it stays away until the next push. */
  dropped?: true;
  /** Of a fork: who let the commit in, or why it is not. */
  allowed_by?: string;
  refused?: string;
  /** When the host said that something of it changed, as it was when the label was looked at. */
  looked?: string;
}

/** `preview` of an app that is one. */
export interface PreviewMark extends PreviewSleep {
  /** The app that it is a preview of. */
  of: string;
  /** `pr-7`, `br-feature-login-1a2b3c4d`. */
  key: string;
  number?: number;
  branch: string;
  /** What is fetched of the host: of a fork too, never its own repository. */
  ref: string;
  /** What may be deployed, and nothing else; an abbreviation where the host gives one. */
  commit: string;
  pushed_at: string;
  domain: string;
  /** Of a fork: who let the commit in. */
  allowed_by?: string;
  notify?: true;
  /** Attempts at the commit while more may follow, and how they ended. */
  tries: number;
  outcome?: 'ready' | 'failed';
  error?: string;
  /** Its database was, or may have been, made: how to drop it, and in which release. */
  database?: { drop: string; release: string; isMade: boolean };
  /** What the host was last shown, and the id of the comment there. */
  shown?: string;
  comment?: string;
  /** What the token may not write there, in words. */
  unshown?: string;
  /** Since when it is removed; its files stay a while. */
  removed_at?: string;
  removed_why?: string;
  /** What could not be removed. */
  left?: string;
  /** An operator brought it back. */
  undone_at?: string;
}

/** Whether a preview is removed: `removing` while something of it is left; undefined: it is not. */
export function removalOf({
  preview,
}: {
  readonly preview?: PreviewMark;
}): 'removing' | 'removed' | undefined {
  if (preview?.removed_why === undefined) return undefined;
  return preview.removed_at === undefined ? 'removing' : 'removed';
}

/** A command for one preview: `runner preview undo shop 7`. */
export function previewCommand(
  verb: 'remove' | 'undo',
  { of, key }: Pick<PreviewMark, 'of' | 'key'>,
): string {
  return `runner preview ${verb} ${of} ${key.startsWith('pr-') ? previewSlug(key) : key}`;
}

/** Why it is not there, and how it comes back; after its name, or "it". */
export function removalWords(preview: PreviewMark): string {
  const { removed_at: removed, removed_why: why = '', left = why } = preview;
  const what = removed === undefined ? `is being removed: ${left}` : `was removed: ${why}`;
  return `${what}; to bring it back: ${previewCommand('undo', preview)}`;
}

/** That the code host cannot be asked. */
export function uncheckedWords({ since, message }: PreviewsUnasked): string {
  return `pull requests cannot be looked for since ${utcText(since)}: ${message}`;
}

/** How long the files of a removed preview stay, in ms. */
export const KEPT_FOR = 172_800_000;

/** Those that are set. */
export function sleepOf({ sleep_after, max_awake }: PreviewSleep): PreviewSleep {
  return {
    ...(sleep_after !== undefined && { sleep_after }),
    ...(max_awake !== undefined && { max_awake }),
  };
}

/** What stands for `{n}`: `7` for `pr-7`. */
export function previewSlug(key: string): string {
  return key.slice(3);
}

/** The key of a branch: what is legible of its name, and a hash of all of it. */
export function branchKey(branch: string): string {
  const { hash } = process.getBuiltinModule('node:crypto');
  const words = branch
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 16);
  return `br-${words.replace(/-$/, '') || 'b'}-${hash('sha256', branch, 'hex').slice(0, 8)}`;
}

/** Whether the commit that the host has is the one that a preview may deploy. */
export function isCommitOf({ commit }: Pick<PreviewMark, 'commit'>, found: string): boolean {
  return commit.length >= 12 && found.startsWith(commit);
}
