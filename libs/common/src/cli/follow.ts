/** The options of `add` and `edit` that say what an app follows. */
import { type FollowedSource, pathspecs, tagRule } from '../apps/following.ts';
import { notProvided } from '../foundation/failure.ts';
import { refName } from '../foundation/names.ts';
import type { Options } from './option.ts';

/** The options that say what is followed, of `add` and `edit`. */
export const FOLLOW_OPTIONS = {
  branch: {
    placeholder: 'BRANCH',
    conflicts: ['tags', 'semver'],
    about: 'Branch to deploy',
  },
  tags: {
    placeholder: 'PATTERN',
    about: "Deploy the highest tag that matches, such as 'v*', instead of a branch",
  },
  semver: {
    placeholder: 'RANGE',
    about: "Only tags whose version is in this semver range, such as '^1'",
  },
  paths: {
    placeholder: 'PATHS',
    emptyAllowed: true,
    about: "Deploy only what changes these paths, such as 'apps/shop/**,libs'; '' for all",
  },
} as const satisfies Options;

export type FollowValues = { readonly [K in keyof typeof FOLLOW_OPTIONS]: string | undefined };

/** Whether one of the options is given. */
export function isFollowGiven({ branch, tags, semver, paths }: FollowValues): boolean {
  return [branch, tags, semver, paths].some((each) => each !== undefined);
}

/** What is followed, by the options and what the app follows so far. Throws `name_invalid`, `usage`. */
export async function followedBy(
  options: FollowValues,
  before?: FollowedSource,
): Promise<FollowedSource> {
  const { branch, semver } = options;
  const pattern = options.tags ?? before?.tags?.pattern;
  const paths = options.paths === undefined ? before?.paths : pathspecs(options.paths);
  if (branch !== undefined) return { branch: refName(branch), tags: undefined, paths };
  if (options.tags === undefined && semver === undefined && before)
    return { branch: before.branch, tags: before.tags, paths };
  if (pattern === undefined)
    throw notProvided(
      semver === undefined ? '<--branch <BRANCH>|--tags <PATTERN>>' : '--tags <PATTERN>',
    );
  return { branch: '', tags: await tagRule(pattern, semver), paths };
}
