import { changeApp } from '@runner/common/apps/change';
import { type PreviewMark, type PreviewSettings, sleepOf } from '@runner/common/apps/preview';
import { previewNames, requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { codeHostOf } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { Failure, invalidValue } from '@runner/common/foundation/failure';
import { previewedApp } from '@runner/common/foundation/names';
import { initiatorOf } from '@runner/common/foundation/user';
import { harmlessLine } from '@runner/common/text/harmless';
import { durationOf } from '@runner/common/text/time';
import { show } from '../act/context.ts';
import { purgePreview, removePreview } from '../act/remove.ts';
import { lockPreviews } from '../act/sync.ts';
import { working } from './work.ts';

/** The longest key: of a branch, or of a pull request. */
const KEY_MAX = 'br-0123456789abcdef-01234567'.length;
const DAY = 86_400_000;

/** What `enable` prints. */
type Enabled = { app: string } & Omit<PreviewSettings, 'seen' | 'waiting'>;

const positionals = { app: { required: true, about: 'Name of the app' } } as const;

export const enable = command({
  name: 'enable',
  needsRoot: true,
  about: 'Make a preview of each open pull request of an app',
  details:
    'From the next fetch on, each open pull request gets a preview, and what is no longer open loses it.\n' +
    'Again, it changes the settings. A pull request of a fork gets none unless someone who may write to the\n' +
    'repository put the label on its newest commit.',
  positionals,
  options: {
    domain: {
      placeholder: 'DOMAIN',
      required: true,
      about: 'Address of a preview; {n} is the number: pr-{n}.preview.example.org',
    },
    max: { placeholder: 'N', default: '5', about: 'Most at once; the newest pushes win' },
    ttl: { placeholder: 'TIME', default: '7d', about: 'Remove one this long after its last push' },
    'sleep-after': {
      placeholder: 'TIME',
      about: 'One without a request for this long sleeps until the next [default: 15m]',
    },
    'max-awake': {
      placeholder: 'N',
      about: 'Most that are awake at once; the longest idle sleeps',
    },
    label: { placeholder: 'NAME', about: 'Only pull requests with this label' },
    branches: { placeholder: 'PATTERN', about: 'Branches like feature/* instead of pull requests' },
    notify: { about: 'Announce their deploys as those of the app' },
  },
  examples: ["runner preview enable shop --domain 'pr-{n}.preview.example.org' --max 5 --ttl 7d"],
  async run({ io, paths, args, options }) {
    const { app, host } = requireApp(paths, args.app);
    if (previewedApp(app) !== undefined) throw new Failure('name_invalid', `${app} is a preview`);
    if (app.length + KEY_MAX + 2 > 63)
      throw new Failure('name_invalid', `the name ${app} is too long for names of previews`);
    const { type } = codeHostOf(readConfig(paths), io.env, host);
    const { label, branches } = options;
    if (type === 'git' && branches === undefined)
      throw invalidValue(
        '',
        '--branches <PATTERN>',
        'this code host has no pull requests runner can list',
      );
    if (label !== undefined && (type === 'bitbucket' || branches !== undefined))
      throw invalidValue(label, '--label <NAME>', 'branches, and Bitbucket, have no labels');
    const sleep = sleepOf({
      ...(options['sleep-after'] && { sleep_after: sleepAfterOf(options['sleep-after']) }),
      ...(options['max-awake'] && { max_awake: countOf(options['max-awake'], '--max-awake <N>') }),
    });
    const { previews } = changeApp({ io, paths, app, command: 'preview' }, (now) => ({
      ...now,
      previews: {
        domain: domainOf(options.domain),
        max: countOf(options.max, '--max <N>'),
        ttl: ttlOf(options.ttl),
        ...(label !== undefined && { label }),
        ...(branches !== undefined && { branches }),
        ...(options.notify && { notify: true as const }),
        ...sleep,
        since: now.previews?.since ?? io.now().toISOString(),
        by: initiatorOf(io, 'manual'),
        ...(now.previews?.seen && { seen: now.previews.seen }),
      },
    }));
    for (const name of previewNames(paths, app))
      changeApp({ io, paths, app: name, command: 'preview' }, (now) => {
        const { sleep_after: _, max_awake: __, ...preview } = now.preview as PreviewMark;
        return { ...now, preview: { ...preview, ...sleep } };
      });
    const { seen: _, waiting: __, ...settings } = previews as PreviewSettings;
    return { value: { app, ...settings } satisfies Enabled };
  },
  human: ({ app, domain }: Enabled) =>
    `${harmlessLine(app)} gets previews at https://${harmlessLine(domain)} with each fetch --deploy\n` +
    `Next: runner preview snippet ${harmlessLine(app)} --proxy nginx\n`,
});

function domainOf(text: string): string {
  const domain = text.toLowerCase();
  const isGood =
    /^[a-z0-9-]*\{n\}[a-z0-9-]*(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?){2,}$/.test(domain) &&
    domain.length <= 200 &&
    (domain.split('.')[0] ?? '').length <= 40 &&
    !/^-|-\./.test(domain);
  if (isGood) return domain;
  const why = 'it needs {n} in its first label, which a wildcard certificate covers';
  throw invalidValue(text.slice(0, 80), '--domain <DOMAIN>', why);
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

/** What `disable` prints. */
interface Disabled {
  app: string;
  removed: string[];
}

export const disable = command({
  name: 'disable',
  needsRoot: true,
  about: 'Remove all previews of an app, and make no more',
  positionals,
  options: {
    purge: { about: 'Remove their files too: nothing can be brought back' },
    force: {
      about: 'With --purge: also what cannot be stopped, or be taken back on the code host',
    },
  },
  examples: ['runner preview disable shop'],
  async run(context) {
    const { io, paths, args, options } = context;
    const { app } = requireApp(paths, args.app);
    const removed = await working(context, 'manual', async (previews) => {
      const lock = lockPreviews(previews, app, 30);
      try {
        changeApp(
          { io, paths, app, command: 'preview' },
          ({ previews: _, ...now }) => now as typeof now & { app: string },
        );
        const names = previewNames(paths, app);
        const problems: string[] = [];
        for (const name of names)
          try {
            const { removed_at: at } = requireApp(paths, name).preview ?? {};
            if (at === undefined) await removePreview(previews, name, 'previews were disabled');
            // The host may not have answered when it was removed.
            else await show(previews, name);
            if (options.purge) await purgePreview(previews, name);
          } catch (error) {
            if (!(error instanceof Failure)) throw error;
            if (options.force && options.purge) await purgePreview(previews, name);
            else problems.push(`${name}: ${error.message}`);
          }
        if (problems.length > 0)
          throw new Failure(
            'stop_failed',
            `not all previews are gone, and fetch --deploy goes on with it: ${problems.join('; ')}`,
          );
        return names;
      } finally {
        lock.release();
      }
    });
    return { value: { app, removed } satisfies Disabled };
  },
  human: ({ app, removed }: Disabled) =>
    `${harmlessLine(app)} has no previews any more${removed.length > 0 ? `; removed ${removed.map(harmlessLine).join(', ')}` : ''}\n`,
});
