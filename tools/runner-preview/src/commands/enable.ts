import { changeApp } from '@runner/common/apps/change';
import { type PreviewMark, type PreviewSettings, sleepOf } from '@runner/common/apps/preview';
import {
  appNames,
  listApps,
  previewNames,
  requireApp,
  requireOwnApp,
} from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { codeHostOf } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { asPreview } from '@runner/common/deploy-file/as-preview';
import { failureIn, unlessFailure } from '@runner/common/foundation/attempt';
import { Failure, invalidValue, notProvided, usage } from '@runner/common/foundation/failure';
import { initiatorOf } from '@runner/common/foundation/user';
import { harmlessLine } from '@runner/common/text/harmless';
import { durationOf } from '@runner/common/text/time';
import { activeFile } from '@runner/deploy/instances/target';

/** The longest key: of a branch, or of a pull request. */
const KEY_MAX = 'br-0123456789abcdef-01234567'.length;
const DAY = 86_400_000;

/** What `enable` prints. */
type Enabled = { app: string } & Omit<PreviewSettings, 'seen' | 'waiting' | 'check_failed'>;

export const enable = command({
  name: 'enable',
  needsRoot: true,
  about: 'Make a preview of each open pull request of an app',
  details:
    'From the next fetch on, each open pull request gets a preview, and what is no longer open loses it.\n' +
    'Run again, it changes only the settings that you give. A pull request of a fork gets none unless\n' +
    'someone who may write to the repository put the label on its newest commit.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    domain: {
      placeholder: 'DOMAIN',
      about: 'Address of a preview, such as pr-{n}.preview.example.org; required the first time',
    },
    max: { placeholder: 'N', about: 'Most at once; the newest pushes win [default: 5]' },
    ttl: {
      placeholder: 'TIME',
      about: 'Remove one this long after its last push [default: 7d]',
    },
    'sleep-after': {
      placeholder: 'TIME',
      emptyAllowed: true,
      about: 'One without a request for this long sleeps until the next [default: 15m]',
    },
    'max-awake': {
      placeholder: 'N',
      emptyAllowed: true,
      about: "Most that are awake at once; the longest idle sleeps; '' for all",
    },
    label: {
      placeholder: 'NAME',
      emptyAllowed: true,
      about: "Only pull requests with this label; '' for all",
    },
    branches: {
      placeholder: 'PATTERN',
      emptyAllowed: true,
      about: "Branches like feature/* instead of pull requests; '' for pull requests",
    },
    notify: { about: 'Announce their deploys as those of the app' },
    quiet: { conflicts: ['notify'], about: 'Stop announcing them' },
  },
  examples: ["runner preview enable shop --domain 'pr-{n}.preview.example.org' --max 5 --ttl 7d"],
  async run({ io, paths, args, options, note }) {
    const { app, host, previews: before } = requireOwnApp(paths, args.app);
    if (app.length + KEY_MAX + 2 > 63)
      throw new Failure('name_invalid', `the name ${app} is too long for names of previews`);
    const { type } = codeHostOf(readConfig(paths), io.env, host);
    // An empty value takes one back.
    const [label, branches, sleepAfter, maxAwake] = [
      lineOf(options.label, '--label <NAME>') ?? before?.label,
      lineOf(options.branches, '--branches <PATTERN>') ?? before?.branches,
      options['sleep-after'] ?? before?.sleep_after,
      options['max-awake'] ?? before?.max_awake?.toString(),
    ].map((each) => each || undefined);
    const domain = options.domain === undefined ? before?.domain : domainOf(options.domain);
    if (domain === undefined) throw notProvided('--domain <DOMAIN>');
    const other = listApps(paths, appNames(paths)).apps.find(
      (each) => each.app !== app && each.previews?.domain === domain,
    );
    if (other && domain !== before?.domain)
      throw invalidValue(domain, '--domain <DOMAIN>', `the previews of ${other.app} have it`);
    const isAnnounced = options.notify || (before?.notify && !options.quiet);
    if (type === 'git' && branches === undefined)
      throw invalidValue(
        '',
        '--branches <PATTERN>',
        'this code host has no pull requests runner can list',
      );
    if (label !== undefined && (type === 'bitbucket' || branches !== undefined))
      throw invalidValue(
        label,
        '--label <NAME>',
        "branches, and Bitbucket, have no labels: --label '' takes it off",
      );
    const sleep = sleepOf({
      ...(sleepAfter && { sleep_after: sleepAfterOf(sleepAfter) }),
      ...(maxAwake && { max_awake: countOf(maxAwake, '--max-awake <N>') }),
    });
    const { previews } = changeApp({ io, paths, app, command: 'preview' }, (now) => ({
      ...now,
      previews: {
        domain,
        max: options.max === undefined ? (before?.max ?? 5) : countOf(options.max, '--max <N>'),
        ttl: options.ttl === undefined ? (before?.ttl ?? 7 * DAY) : ttlOf(options.ttl),
        ...(label !== undefined && { label }),
        ...(branches !== undefined && { branches }),
        ...(isAnnounced && { notify: true as const }),
        ...sleep,
        since: now.previews?.since ?? io.now().toISOString(),
        by: initiatorOf(io, 'manual'),
        ...(now.previews?.seen && { seen: now.previews.seen }),
        ...(before?.check_failed && { check_failed: before.check_failed }),
      },
    }));
    for (const { app: name } of listApps(paths, previewNames(paths, app)).apps)
      changeApp({ io, paths, app: name, command: 'preview' }, (now) => {
        const { sleep_after: _, max_awake: __, ...preview } = now.preview as PreviewMark;
        return { ...now, preview: { ...preview, ...sleep } };
      });
    const file = unlessFailure(() => activeFile(paths, requireApp(paths, app)), undefined);
    const lack = file && failureIn(() => asPreview(file, { domain }));
    if (lack) note(`${app} as it is now has no previews: ${lack.message}`);
    const { seen: _, waiting: __, check_failed: ___, ...settings } = previews as PreviewSettings;
    return { value: { app, ...settings } satisfies Enabled };
  },
  human: ({ app, domain, ...settings }: Enabled) =>
    `${harmlessLine(app)} gets previews at https://${harmlessLine(domain)} with each fetch --deploy\n` +
    `${harmlessLine(settingsWords(settings))}\n` +
    `Next: runner preview snippet ${harmlessLine(app)} --proxy nginx\n`,
});

/** All that holds, in words. */
function settingsWords(settings: Omit<Enabled, 'app' | 'domain'>): string {
  const { max, ttl, label, branches, sleep_after: after = '15m', max_awake: awake } = settings;
  const minutes = ttl / 60_000;
  return [
    `at most ${max}`,
    `until ${ttl % DAY === 0 ? `${ttl / DAY}d` : `${minutes}m`} after the last push`,
    `asleep after ${after}`,
    ...(awake === undefined ? [] : [`at most ${awake} awake`]),
    ...(label === undefined ? [] : [`with the label ${label}`]),
    ...(branches === undefined ? [] : [`of branches ${branches}`]),
    ...(settings.notify ? ['announced'] : []),
  ].join(', ');
}

function domainOf(text: string): string {
  const domain = text.toLowerCase();
  const [first = '', ...rest] = domain.split('.');
  const isLabel = (label: string) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label);
  const refuse = (why: string, shown = `'${text.slice(0, 80)}' `) =>
    usage(`invalid value ${shown}for '--domain <DOMAIN>': ${why}`);
  // An address may have a password in it.
  if (text.includes('/')) throw refuse('give the name alone, without https:// and path', '');
  if (!first.includes('{n}'))
    throw refuse('it needs {n} in its first label, which a wildcard certificate covers');
  if (rest.length < 2) throw refuse('{n} needs a domain after it: {n}.preview.example.org');
  if (first.length > 40 || domain.length > 200) throw refuse('it is too long');
  if ([first.replace('{n}', '0'), ...rest].every(isLabel) && !/^-|-$/.test(first)) return domain;
  throw refuse('a name has letters, digits and dashes between its dots, and {n} once');
}

/** A label or pattern. Throws `usage`. */
function lineOf(text: string | undefined, option: string): string | undefined {
  if (text === undefined || !/\p{Cc}|^.{201}/su.test(text)) return text;
  throw invalidValue(text.slice(0, 80), option, 'it is not one line of at most 200 characters');
}

function sleepAfterOf(text: string): string {
  const after = durationOf(text);
  if (after !== undefined && after >= 60_000 && after <= 7 * DAY) return text;
  throw invalidValue(text.slice(0, 80), '--sleep-after <TIME>', 'it is not a time from 1m to 168h');
}

function countOf(text: string, option: string): number {
  const max = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (max >= 1 && max <= 500) return max;
  throw invalidValue(text.slice(0, 80), option, 'it is not a number from 1 to 500');
}

function ttlOf(text: string): number {
  const days = /^(\d{1,3})d$/.exec(text)?.[1];
  const ttl = days === undefined ? (durationOf(text) ?? 0) : Number(days) * DAY;
  if (ttl >= 60_000 && ttl <= 365 * DAY) return ttl;
  throw invalidValue(text.slice(0, 80), '--ttl <TIME>', 'it is not a time from 1m to 365d');
}
