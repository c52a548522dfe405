/** `runner notify digest`: what happened in a period, and what needs someone now, as one message. */

import { listApps } from '@runner/common/apps/store';
import { summaryOf } from '@runner/common/apps/summary';
import type { Context } from '@runner/common/cli/command';
import { readConfig } from '@runner/common/config/file';
import { notifySettingsOf, retryPolicyOf } from '@runner/common/config/settings';
import type { Paths } from '@runner/common/foundation/paths';
import { durationText } from '@runner/common/text/time';
import { counted } from '@runner/common/text/words';
import type { PastDeploy } from '@runner/history/deploys/deploy';
import { readDeploys } from '@runner/history/deploys/read';
import { figuresOf, isIn, type Period } from '@runner/history/figures/figures';
import { periodSince } from '@runner/history/log/options';
import type { SendResult } from '../deliver/result.ts';
import { Announcer } from '../deliver/send.ts';

/** Milliseconds for the delivery; what remains is queued. */
const WAIT = 5_000;

type DigestContext = Pick<Context, 'io' | 'paths' | 'title' | 'note'> & {
  readonly options: {
    readonly since: string;
    readonly channel: string | undefined;
    readonly 'dry-run': boolean;
    /** By the timer: only where `notify.digest` is true. */
    readonly scheduled: boolean;
  };
};

/** Announces the digest; empty where the timer has nothing to do. Throws `usage`, `config_invalid`. */
export async function announceDigest(context: DigestContext): Promise<readonly SendResult[]> {
  const { io, paths, note } = context;
  const { since, channel = 'all', 'dry-run': dryRun, scheduled } = context.options;
  const now = io.now();
  const period = periodSince(since, now);
  if (scheduled && !notifySettingsOf(readConfig(paths), io.env).digest) return [];
  const text = await digestText(paths, period, note);
  const announcer = new Announcer(context, { channel, wait: WAIT, dryRun, showAll: dryRun });
  const fields = {
    timestamp: now.toISOString(),
    event_type: 'Digest',
    project: 'all apps',
    since: new Date(period.since).toISOString(),
    deploy_id: null,
    error: text,
  };
  return announcer.announce({ kind: 'Digest', project: 'all apps', fields });
}

/** Apps, causes and warnings that are listed; the others are counted. */
const LISTED = 10;
/** Characters of a cause: one line. */
const CAUSE_MAX = 100;
const DAY = 86_400_000;
/** A token is mentioned this long before its end. */
const ENDING = 14 * DAY;

/** The text; the first line has the figures of all apps. */
export async function digestText(
  paths: Paths,
  period: Period,
  note: (text: string) => void,
): Promise<string> {
  const history = await readDeploys({ paths, note });
  const deploys = history.filter((deploy) => !deploy.byHand && isIn(period, deploy));
  const { deploys: count, time_to_restore_s: restore } = figuresOf(history, period);
  const failed = deploys.filter(isFailed);
  const restored = restore.p50 === null ? [] : [`restored in ${durationText(restore.p50 * 1000)}`];
  const unfinished = unfinishedWords(deploys);
  const head = [counted(count, 'deploy'), `${failed.length} failed`, ...unfinished, ...restored];
  const apps = groups(deploys).map(([app, own]) => {
    const bad = own.filter(isFailed).length;
    const words = [own.length, ...(bad > 0 ? [`${bad} failed`] : []), ...unfinishedWords(own)];
    return `  ${app}: ${words.join(', ')}`;
  });
  return [
    head.join(', '),
    ...limited(apps),
    ...section('Causes', causesOf(failed)),
    ...section('Needs attention', attentionOf(paths, period.until)),
  ].join('\n');
}

/** Those that were cancelled or killed, which say nothing about the commit. */
function unfinishedWords(deploys: readonly PastDeploy[]): string[] {
  const { length } = deploys.filter(({ result }) => result === 'interrupted');
  return length === 0 ? [] : [`${length} did not end`];
}

function isFailed({ result }: PastDeploy): boolean {
  return result === 'failed' || result === 'rolled_back';
}

/** By app, those with most deploys first. */
function groups(deploys: readonly PastDeploy[]): [string, PastDeploy[]][] {
  const byApp = new Map<string, PastDeploy[]>();
  for (const deploy of deploys)
    byApp.set(deploy.project, [...(byApp.get(deploy.project) ?? []), deploy]);
  return [...byApp].sort(([a, own], [b, others]) => others.length - own.length || (a < b ? -1 : 1));
}

/** The first line of each cause, the most frequent first. */
function causesOf(failed: readonly PastDeploy[]): string[] {
  const counts = new Map<string, number>();
  for (const { cause, stage, project } of failed) {
    const [line = ''] = (cause ?? '').split('\n').filter((each) => each.trim() !== '');
    const text = `${project}: ${line.trim().slice(0, CAUSE_MAX) || `failed at ${stage ?? 'an unknown stage'}`}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([text, count]) => `  ${text}${count > 1 ? ` (${count} times)` : ''}`);
}

/** Apps that are down, blocked or in another state that lasts, and tokens that end. */
function attentionOf(paths: Paths, now: number): string[] {
  const view = { retries: retryPolicyOf(readConfig(paths)), now: new Date(now) };
  const { apps, unreadable } = listApps(paths);
  const states = apps.flatMap((app) => {
    const { state } = summaryOf(paths, app, view);
    const down = app.reported?.down ?? [];
    if (down.length > 0) return [`  ${app.app}: down (${down.join(', ')})`];
    return ['broken', 'down', 'blocked', 'stale', 'failing', 'stopped', 'paused'].includes(state)
      ? [`  ${app.app}: ${state}`]
      : [];
  });
  const tokens = apps.flatMap(({ app, reported, state }) => {
    const end = reported?.token?.ends ?? state.repohost_token_ends ?? '';
    const left = Date.parse(end) - now;
    return left < ENDING ? [`  ${app}: its token expires on ${end.slice(0, 10)}`] : [];
  });
  return [
    ...states,
    ...unreadable.map(({ app }) => `  ${app}: its state is unreadable`),
    ...tokens,
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...limited(lines)];
}

function limited(lines: readonly string[]): string[] {
  const more = lines.length - LISTED;
  return more > 0 ? [...lines.slice(0, LISTED), `  and ${more} more`] : [...lines];
}
