/**
 * A notice laid out: which fields each message has, in which order, with which
 * words. No markup: each channel adds its own.
 */
import { cutCodePoints } from '@runner/common/text/plain';
import type { Notice } from './notice.ts';

/** Constant words, and values, which a channel shows as code so that nothing in them is markup. */
export type Phrase = readonly (string | { readonly value: string })[];

/** A field of a message. */
export interface Row {
  readonly label: string;
  readonly phrase: Phrase;
}

/** A message without markup. */
export interface Announcement {
  readonly icon: string;
  readonly title: string;
  /** Names the deploy in one line. */
  readonly headline: Phrase;
  readonly rows: readonly Row[];
  /** Error text of several lines. */
  readonly block: string | undefined;
}

/** Longest name in the message that carries the log: it shares 4096 characters with 3800 of log. */
const SHORT_MAX = 63;

const FACES = {
  started: ['🚀', 'Deploy started'],
  success: ['✅', 'Deploy completed'],
  failure: ['❌', 'Deploy failed'],
  rollback: ['↩️', 'Rollback'],
} as const;

/** The messages of a notice: one, or two for a failure with a long error. */
export function announcementsOf(notice: Notice): Announcement[] {
  const [icon, title] = FACES[notice.kind];
  const first = {
    icon,
    title,
    headline: headlineOf(notice),
    rows: rowsOf(notice),
    block: notice.error || undefined,
  };
  return notice.log === undefined ? [first] : [first, logOf(notice, notice.log)];
}

function rowsOf(notice: Notice): Row[] {
  const project = row('Project', notice.project);
  const deploy = row('Deploy', notice.deployId);
  const instance = row('Instance', notice.instance);
  if (notice.kind === 'rollback') {
    const from = notice.fromVersion || notice.previousVersion || 'unknown';
    const rows = [row('From', from), row('To', notice.version)];
    rows.push(row('Reason', notice.reason || 'not given'), deploy);
    // Instances go back one by one: without its name their messages would be the same.
    return notice.instance === 'default' ? [project, ...rows] : [project, instance, ...rows];
  }
  const rows = [project, instance, row('Version', notice.version)];
  if (notice.kind === 'success' && notice.duration) rows.push(row('Duration', notice.duration));
  rows.push(deploy);
  if (notice.kind === 'failure') rows.push({ label: 'Rollback', phrase: rollbackOf(notice) });
  return rows;
}

/** Names the version that stayed active. */
function rollbackOf({ previousVersion, rollbackFailed, reason }: Notice): Phrase {
  if (!previousVersion) return ['no earlier version exists'];
  if (!rollbackFailed) return ['stayed on ', { value: previousVersion }];
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
    rows: [row('Project', project), row('Instance', instance), row('Deploy', notice.deployId)],
    block: log,
  };
}

function headlineOf({ project, instance, version, deployId }: Notice): Phrase {
  const short = (text: string) => ({ value: cutCodePoints(text, SHORT_MAX) });
  return [
    short(project),
    ' / ',
    short(instance),
    ' ',
    short(version),
    ' [',
    { value: deployId },
    ']',
  ];
}

function row(label: string, value: string): Row {
  return { label, phrase: [{ value }] };
}
