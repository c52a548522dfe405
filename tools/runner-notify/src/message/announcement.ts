/** A notice laid out: the fields of each message, their order and words. Each channel adds its markup. */

import { codePoints, cutCodePoints, headAndTail } from '@runner/common/text/plain';
import { LOG_MAX, type Notice, type NoticeKind } from './notice.ts';
import { isOfDeploy } from './records.ts';
import { isTwofold } from './steps.ts';

/**
 * Constant words, and values, which a channel shows as code so that they contain no markup, or as the
 * text of a link.
 */
export type Phrase = readonly (string | { readonly value: string; readonly url?: string })[];

/** A field of a message. */
export interface Detail {
  readonly label: string;
  readonly phrase: Phrase;
}

/** A message without markup. */
export interface Announcement {
  readonly icon: string;
  readonly title: string;
  /** Names project, instance and version in one line. */
  readonly headline: Phrase;
  readonly rows: readonly Detail[];
  /** Error text of several lines. */
  readonly block: string | undefined;
}

/** Longest name beside the log, and in a headline: a message has 4096 characters, the log takes 3800. */
export const SHORT_MAX = 63;

/** Between what matters of an error and the whole log. */
const LOG_RULE = '\n\n--- full error log ---\n';

/** The words of a test notification. */
export const TEST_TITLE = 'Test notification';
/** Its only sentence. */
export const TEST_TEXT = 'runner announces deploys here.';

/** How a kind of notice is shown. */
export interface Face {
  readonly icon: string;
  readonly title: string;
  readonly tone: 'news' | 'good' | 'care' | 'bad';
  /** It is about an instance and its version; the others are about a branch. */
  readonly ofInstance?: true;
}

/** How each kind is shown. */
export const FACES: Readonly<Record<NoticeKind, Face>> = {
  started: { icon: '🚀', title: 'Deploy started', tone: 'news' },
  success: { icon: '✅', title: 'Deploy completed', tone: 'good' },
  failure: { icon: '❌', title: 'Deploy failed', tone: 'bad' },
  rollback: { icon: '↩️', title: 'Rollback', tone: 'care' },
  AppDown: { icon: '🔻', title: 'App down', tone: 'bad', ofInstance: true },
  AppUp: { icon: '🔺', title: 'App up again', tone: 'good', ofInstance: true },
  CertEnding: { icon: '⏳', title: 'Certificate ending', tone: 'care' },
  ApprovalWanted: { icon: '✋', title: 'Approval wanted', tone: 'care', ofInstance: true },
  CheckRecovered: { icon: '✅', title: 'Checks work again', tone: 'good' },
  Digest: { icon: '📊', title: 'Digest', tone: 'news' },
  DeployWaiting: { icon: '⏸️', title: 'Deploy waits', tone: 'care' },
  HeadBehind: { icon: '🕰️', title: 'Still not deployed', tone: 'care' },
  JobFailed: { icon: '❌', title: 'Job failed', tone: 'bad', ofInstance: true },
  JobMissed: { icon: '⏰', title: 'Job missed', tone: 'bad', ofInstance: true },
  JobRecovered: { icon: '✅', title: 'Job works again', tone: 'good', ofInstance: true },
  JobSlow: { icon: '🐌', title: 'Job is slow', tone: 'care', ofInstance: true },
  PlanApproved: { icon: '👍', title: 'Plan approved', tone: 'good', ofInstance: true },
  PlanExpired: { icon: '⌛', title: 'Plan expired', tone: 'care', ofInstance: true },
  TagChanged: { icon: '🏷️', title: 'Tag changed', tone: 'care' },
  TokenEnding: { icon: '⏳', title: 'Token ending', tone: 'care' },
  TokenRenewed: { icon: '🔑', title: 'Token renewed', tone: 'good' },
  WatchEnded: { icon: '❔', title: 'Release not judged', tone: 'care', ofInstance: true },
  WatchFailed: { icon: '❌', title: 'Release is bad', tone: 'bad', ofInstance: true },
  WatchPassed: { icon: '✅', title: 'Release is good', tone: 'good', ofInstance: true },
};

/** A rollback that only started the active version again. */
const RESTARTED = { icon: '🔁', title: 'Started again' };

/** The messages of a notice: one, or two for a failure with a long error. */
export function announcementsOf(notice: Notice): Announcement[] {
  const { icon, title } = notice.restarted ? RESTARTED : FACES[notice.kind];
  const first = {
    icon,
    title,
    headline: headlineOf(notice),
    rows: [...rowsOf(notice), ...row('Record', notice.record)],
    block: notice.error || undefined,
  };
  if (isTwofold(notice))
    return [
      { ...first, block: undefined },
      { ...first, block: wholeOf(notice) },
    ];
  return notice.log === undefined ? [first] : [first, logOf(notice, notice.log)];
}

/** The lines that matter, then the whole log, cut to the length of a log message. */
function wholeOf({ error, log }: Notice): string {
  if (log === undefined) return error;
  const rest = LOG_MAX - codePoints(error) - codePoints(LOG_RULE);
  return `${error}${LOG_RULE}${headAndTail(log, rest)}`;
}

function rowsOf(notice: Notice): Detail[] {
  const { kind, version, instance, approvedBy, emergency } = notice;
  if (kind === 'Digest') return [detail('Since', [{ value: version }])];
  const app = [...row('Project', notice.project), ...row('Server', notice.server)];
  const ofInstance = row('Instance', instance);
  if (!isOfDeploy(notice.eventType)) {
    const subject = FACES[kind].ofInstance
      ? [...row('Job', notice.job), ...ofInstance, ...row('Version', version)]
      : // The name of a branch has no space in it; `tags v*` has.
        row(version.includes(' ') ? 'Follows' : 'Branch', version);
    return [...app, ...subject, ...row('Reason', notice.reason)];
  }
  const end = [
    ...(notice.database === '' ? [] : [detail('Database', [notice.database])]),
    ...(kind === 'rollback' ? [] : row('By', notice.user)),
    ...(emergency ? row('Emergency, without approval', emergency) : row('Approved by', approvedBy)),
    ...row('Deploy', notice.deployId),
  ];
  if (kind === 'rollback') {
    const from = notice.fromVersion || notice.previousVersion || 'unknown';
    return [
      ...app,
      ...(instance === 'default' ? [] : ofInstance),
      ...(notice.restarted
        ? row('Version', version)
        : [...row('From', from), ...row('To', version)]),
      ...row('Reason', notice.reason || 'not given'),
      ...end,
    ];
  }
  return [
    ...[...app, ...ofInstance, ...row('Version', version), ...changesOf(notice)],
    ...(kind === 'started' ? [] : row('Duration', notice.duration)),
    ...end,
    ...(kind === 'failure' ? [detail('Rollback', rollbackOf(notice))] : []),
    ...(notice.blocked ? [detail('Retry', ['not tried again until the next push'])] : []),
    ...(notice.muted
      ? [detail('Retry', ['goes on; the same failure is not announced again'])]
      : []),
  ];
}

/** The changes, if the record has them. */
function changesOf({ changes }: Notice): Detail[] {
  if (!changes) return [];
  const { count = 0, subjects, authors, url, hosts, scripts } = changes;
  const listed = (names: readonly string[], between: string): Phrase =>
    names.flatMap((value, index) => [...(index > 0 ? [between] : []), { value }]);
  const many = count > 1 ? [`${count} commits`] : [];
  const by = authors.length > 0 ? [many.length > 0 ? ' by ' : 'by ', ...listed(authors, ', ')] : [];
  const head = [...many, ...by];
  const named = listed(subjects, ' · ');
  const between = named.length > 0 && head.length > 0 ? [', '] : [];
  const link = url === undefined ? [] : [' ', { value: 'compare', url }];
  const added = (label: string, words: string, names: readonly string[]) =>
    names.length === 0 ? [] : [detail(label, [words, ...listed(names, ', ')])];
  return [
    detail('Changes', [...named, ...between, ...head, ...link]),
    ...added('Network', 'may now reach ', hosts),
    ...added('Packages', 'new install scripts: ', scripts),
  ];
}

/** What happened to the previous version. */
function rollbackOf({ previousVersion, rolledBack, reason }: Notice): Phrase {
  if (!previousVersion) return ['no previous version on record'];
  if (rolledBack === undefined) return ['stayed on ', { value: previousVersion }];
  if (rolledBack) return ['rolled back to ', { value: previousVersion }];
  const failed: Phrase = ['failed, ', { value: previousVersion }, ' is not active again'];
  return reason ? [...failed, ': ', { value: reason }] : failed;
}

/** The second message of a failure. */
function logOf(notice: Notice, log: string): Announcement {
  const project = cutCodePoints(notice.project, SHORT_MAX);
  const instance = cutCodePoints(notice.instance, SHORT_MAX);
  return {
    icon: '📄',
    title: 'Full error log',
    headline: headlineOf(notice),
    rows: [
      ...[...row('Project', project), ...row('Instance', instance)],
      ...row('Deploy', notice.deployId),
    ],
    block: log,
  };
}

function headlineOf({ kind, project, instance, version }: Notice): Phrase {
  if (kind === 'Digest') return [{ value: project }, ' since ', { value: version }];
  const short = (text: string) => ({ value: cutCodePoints(text, SHORT_MAX) });
  return [short(project), ' / ', short(instance), ' ', short(version)];
}

function detail(label: string, phrase: Phrase): Detail {
  return { label, phrase };
}

/** Nothing for an unknown value. */
function row(label: string, value: string): Detail[] {
  return value === '' ? [] : [detail(label, [{ value }])];
}
