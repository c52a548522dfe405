/** `network` of `.deploy.yml` and config.yml: which hosts commands may reach. */
import { list, matching } from '../yaml/keys.ts';
import type { Schema } from '../yaml/schema.ts';

/** true: all; false: none; `learn`: all public ones, which are then listed; a list: those, and sets of them. */
export type Network = boolean | 'learn' | readonly string[];

/** The servers of package managers: which these are, the tool's own configuration says. */
export const HOST_SETS = ['npm', 'pypi', 'cargo', 'go', 'composer', 'rubygems'] as const;
/** Name of a set. */
export type HostSet = (typeof HOST_SETS)[number];

/** Hosts that may be reached at one port. */
export interface HostRule {
  /** In lower case; `*.` stands for one or more labels. */
  readonly host: string;
  readonly port: number;
  /** It may have a private address. */
  readonly isPrivate: boolean;
  /** The set that has it; undefined: it is listed itself. */
  readonly of?: HostSet;
}

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** An address is not a name: its last label is a number. */
const LAST = '[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const NUMBER =
  '(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
const PORT = `(?::${NUMBER})?`;
const PLACE = `(?:\\*\\.)?(?=[^ :]{1,253}[ :]|[^ :]{1,253}$)(?:${LABEL}\\.)+${LAST}${PORT}(?: private)?`;
const ENTRY = `${HOST_SETS.join('|')}|${PLACE}|${LAST}${PORT} private`;

/** Entries whose mistake is named. */
const REFUSED = [
  [
    '^(?:[0-9]+(?:\\.[0-9]+){3}|\\[|[0-9A-Fa-f]*:[0-9A-Fa-f]*:)',
    'must be the name of a host: addresses cannot be listed',
  ],
  [`:(?!${NUMBER}(?: |$))[0-9]+(?: private)?$`, 'must have a port from 1 to 65535'],
  [`^${LAST}:[0-9]+$`, 'must end with " private": a name without a dot has a private address'],
] as const;

const HOST_NAME = new RegExp(`^(?=.{1,253}$)(?:${LABEL}\\.)*${LAST}$`);

/** Whether a text is the name of a host, not an address. */
export function isHostName(text: string): boolean {
  return HOST_NAME.test(text);
}

const entry = (words: readonly string[]) => ({
  ...matching(
    `^(?:${[...words, ENTRY].join('|')})$`,
    `${words.map((each) => `${each}, `).join('')}a host like github.com, *.example.org, git.example.org:22 or "nexus.corp private", or one of ${HOST_SETS.join(', ')}`,
  ),
  refused: REFUSED,
});

/** What the key `network` holds. */
export const networkSchema = (description: string): Schema => ({
  anyOf: [{ ...entry(['true', 'false', 'learn']), mayBeBoolean: true }, list(entry([]))],
  description,
});

/** What the key holds; absent: true. */
export function networkIn(value: unknown): Network {
  if (value === undefined || value === 'true' || value === true) return true;
  if (value === 'false' || value === false) return false;
  if (value === 'learn' || Array.isArray(value)) return value as Network;
  return [value as string];
}

/** Whether an entry is the name of a set. */
export function isHostSet(text: string): text is HostSet {
  return HOST_SETS.includes(text as HostSet);
}

/** `git.example.org:22` as a rule; without a port it is 443. */
export function hostRule(text: string): HostRule {
  const [place = '', flag] = text.toLowerCase().split(' ');
  const [host = '', port = '443'] = place.split(':');
  return { host, port: Number(port), isPrivate: flag === 'private' };
}

/** A rule as it is written. */
export function ruleText({ host, port, isPrivate }: HostRule): string {
  return `${host}${port === 443 ? '' : `:${port}`}${isPrivate ? ' private' : ''}`;
}

/** The rule that lets a host in lower case be reached; also whether a rule is within others. */
export function ruleFor(
  rules: readonly HostRule[],
  host: string,
  port: number,
): HostRule | undefined {
  const found = rules.filter((rule) => rule.port === port && isNamed(rule.host, host));
  return found.find(({ isPrivate }) => isPrivate) ?? found[0];
}

const isNamed = (pattern: string, host: string) =>
  pattern === host ||
  (pattern.startsWith('*.') && host.endsWith(pattern.slice(1)) && host.length >= pattern.length);

/** What a list of a commit has and that before it had not: entries, or `all hosts`. */
export function widened(before: Network, after: Network): string[] {
  if (typeof before !== 'object' && before !== false) return [];
  const known = before === false ? [] : before;
  if (typeof after === 'object') return after.filter((entry) => !known.includes(entry));
  return after === false ? [] : ['all hosts'];
}

/** The rules that others allow, and those that they do not. */
export function bounded(
  rules: readonly HostRule[],
  ceiling: readonly HostRule[],
): { readonly inside: readonly HostRule[]; readonly outside: readonly HostRule[] } {
  const isInside = ({ host, port, isPrivate }: HostRule) => {
    const above = ruleFor(ceiling, host, port);
    return above !== undefined && (above.isPrivate || !isPrivate);
  };
  return {
    inside: rules.filter(isInside),
    outside: rules.filter((rule) => !isInside(rule)),
  };
}
