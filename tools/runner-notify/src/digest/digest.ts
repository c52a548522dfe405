/** `runner notify digest`: one message about a period. */
import type { Context } from '@runner/common/cli/command';
import { readConfig } from '@runner/common/config/file';
import { notifySettingsOf } from '@runner/common/config/settings';
import { periodSince } from '@runner/history/log/options';
import { openAnnouncer } from '../deliver/announce.ts';
import { clockOf } from '../deliver/clock.ts';
import type { Result } from '../deliver/result.ts';
import { digestText } from './report.ts';

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
export async function announceDigest(context: DigestContext): Promise<readonly Result[]> {
  const { io, paths, title, note } = context;
  const { since, channel = 'all', 'dry-run': dryRun, scheduled } = context.options;
  const now = io.now();
  const period = periodSince(since, now);
  if (scheduled && !notifySettingsOf(readConfig(paths), io.env).digest) return [];
  const text = await digestText(paths, period, note);
  const announcer = openAnnouncer({
    io,
    paths,
    clock: clockOf(io),
    title,
    note,
    channel,
    wait: WAIT,
    dryRun,
  });
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
