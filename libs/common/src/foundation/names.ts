/** Checks names from outside: they become file names and arguments of git. */
import { Failure } from './failure.ts';

/** 63 characters, the limit of a DNS label. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export const JOB_NAME = NAME.source;

/** `locks/registry.lock` is the registry's lock. */
const RESERVED = 'registry';

function quoted(text: string): string {
  return `'${text.length > 80 ? `${text.slice(0, 77)}…` : text}'`;
}

/** Checks an app's name; throws `name_invalid`. */
export function appName(text: string): string {
  if (isAppName(text)) return text;
  if (text === RESERVED) {
    throw new Failure(
      'name_invalid',
      `'${RESERVED}' is reserved: give the app another name with --name`,
    );
  }
  throw new Failure(
    'name_invalid',
    `${quoted(text)} is not an app name: 1 to 63 letters, digits, dots, dashes or underscores, beginning with a letter or digit, without '..'`,
  );
}

/** Whether a file name without its ending can be an app's name. */
export function isAppName(text: string): boolean {
  return NAME.test(text) && !text.includes('..') && text !== RESERVED;
}

/** Whether a job of `.deploy.yml` can have this name. */
export function isJobName(name: unknown): name is string {
  return typeof name === 'string' && NAME.test(name);
}

/** Of which app a name is a preview: `shop` for `shop--pr-7`. Other apps cannot have such names. */
export function previewedApp(name: string): string | undefined {
  return /^(.+)--(?:pr|br)-[a-z0-9-]+$/.exec(name)?.[1];
}

/**
 * Checks the name of a repository, by default `owner/name` (a `.git` ending is dropped); throws
 * `name_invalid`.
 */
export function repoName(text: string, [least, most]: readonly [number, number] = [2, 2]): string {
  const repo = text.endsWith('.git') ? text.slice(0, -4) : text;
  const parts = repo.split('/');
  const good =
    repo.length <= 200 &&
    parts.length >= least &&
    parts.length <= most &&
    parts.every((part) => /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/.test(part) && !/^\.+$/.test(part));
  if (good) return repo;
  throw new Failure(
    'name_invalid',
    `${quoted(text)} is not a repository: give it as <owner>/<name>`,
  );
}

/**
 * Checks a branch or tag by the rules of git-check-ref-format(1), and that it does not begin with
 * a dash, where git would take it for an option; throws `name_invalid`.
 */
export function refName(text: string, what = 'branch'): string {
  const bad =
    text === '' ||
    text.length > 200 ||
    text.startsWith('-') ||
    text.endsWith('.') ||
    text === '@' ||
    text.includes('..') ||
    text.includes('@{') ||
    /[\x00-\x20\x7f~^:?*[\\]/.test(text) ||
    text.split('/').some((part) => part === '' || part.startsWith('.') || part.endsWith('.lock'));
  if (!bad) return text;
  throw new Failure('name_invalid', `${quoted(text)} is not a valid ${what} name`);
}
