/**
 * An event in words: its values become plain text, lose their secrets and are cut to length, in this
 * order: escapes, progress lines, controls, secrets, extraction, cutting. Each channel adds markup.
 */

import type { SchemaWay } from '@runner/common/apps/database';
import { restoredWords, SCHEMA_WORDS } from '@runner/common/apps/schema-way';
import {
  type EventType,
  isStateEvent,
  newDeployId,
  type StateEvent,
} from '@runner/common/audit/events';
import { isRestarted, textOf } from '@runner/common/audit/record';
import type { TemplateKind } from '@runner/common/config/settings';
import type { Paths } from '@runner/common/foundation/paths';
import { cleanText, codePoints, cutCodePoints, headAndTail } from '@runner/common/text/plain';
import { durationText } from '@runner/common/text/time';
import { readBaseline } from '@runner/extract/baseline-file';
import { changesIn } from './changes.ts';
import { type Announceable, isOfDeploy, PLACE } from './records.ts';

/** Error text of the first failure message, in code points: readable at a glance. */
const SUMMARY_MAX = 800;
/** Full error log of the second failure message, in code points: fits both services. */
export const LOG_MAX = 3800;
/** Characters of a deploy_id: docs/audit-log.md. */
const DEPLOY_ID_LENGTH = 8;
/** Longest name, version or domain; a record holds at most 200 characters. */
const VALUE_MAX = 200;
/** Together with the active version it fits a field of Discord, even when fully escaped. */
const REASON_MAX = 250;
/** That of a change of state, which ends with what to type; alone it fits such a field, too. */
const STATE_REASON_MAX = 500;

/** What a result says about an event. */
export type NoticeSubject = ReturnType<typeof subjectOf>;

/** A message that a user can reword, or a change in the state of an app. */
export type NoticeKind = TemplateKind | StateEvent | 'Digest';

/** An event in words. Every text but `error` and `log` is one line; unknown ones are empty. */
export type Notice = Awaited<ReturnType<typeof noticeOf>> & {
  /** The channel edits messages: one message a deploy. */
  readonly edited?: true;
};

const KINDS: Readonly<Record<Exclude<EventType, StateEvent>, TemplateKind>> = {
  DeployStarted: 'started',
  DeploySuccess: 'success',
  DeployFailure: 'failure',
  RollbackSuccess: 'rollback',
};

/** What a notice depends on, apart from the record. */
export interface NoticeOptions {
  redact(text: string): string;
  readonly verboseErrors: boolean;
  /** Where apps keep what their last good deploy printed: such lines are not the cause. */
  readonly paths?: Paths;
  random(): number;
}

/** The part of a notice that needs no error extraction. */
export function subjectOf(
  { fields, kind, project }: Announceable,
  { redact, random }: Pick<NoticeOptions, 'redact' | 'random'>,
) {
  const field = (name: string) => shortLine(textOf(fields, name), redact);
  return {
    eventType: kind,
    project: shortLine(project, redact) || 'unknown',
    instance: field('instance') || 'default',
    version: field('version') || (kind === 'Digest' ? field('since').slice(0, 10) : 'unknown'),
    /** The same in all messages of one deploy. */
    deployId: [...field('deploy_id')].slice(0, DEPLOY_ID_LENGTH).join('') || newDeployId(random),
  };
}

export async function noticeOf(record: Announceable, options: NoticeOptions) {
  const { fields, kind } = record;
  const { redact } = options;
  const field = (name: string, max?: number) => shortLine(textOf(fields, name), redact, max);
  const ofKind: NoticeKind = kind === 'Digest' || isStateEvent(kind) ? kind : KINDS[kind];
  return {
    ...subjectOf(record, options),
    kind: ofKind,
    /** Place of the record in the audit log, for `audit verify --anchor`: `#57·` and 32 digits; may be empty. */
    record: field(PLACE),
    /** ISO 8601 UTC; undefined without a valid one in the record. */
    timestamp: timeOf(fields.timestamp),
    previousVersion: field('previous_version'),
    fromVersion: field('from_version'),
    reason: field('reason', isOfDeploy(kind) ? REASON_MAX : STATE_REASON_MAX),
    domain: field('domain'),
    /** The commits of the deploy. */
    changes: changesIn(fields, (text) => shortLine(text, redact)),
    /** Of a rollback: the active version was only started again. */
    restarted: kind === 'RollbackSuccess' && isRestarted(fields),
    /** Full hash; empty when the record has none. */
    commit: field('commit'),
    job: field('job'),
    /** Of a failure. */
    stage: field('stage'),
    /** What a deploy or a rollback did to the database of the app; as a rule empty. */
    database: databaseWords(field('migration'), field('database_backup')),
    /** Who started the deploy. */
    user: field('user'),
    /** Who approved the plan that was applied; why it needed no approval. */
    approvedBy: shortLine(listIn(fields.approved_by), redact),
    emergency: field('emergency', REASON_MAX),
    /** Of a record of `runner fleet events`. */
    server: field('server'),
    /** In words, e.g. `1 m 05 s`. */
    duration: durationText(fields.duration_ms),
    /** Of a failure after the switch: whether the rollback succeeded. */
    rolledBack: typeof fields.rolled_back === 'boolean' ? fields.rolled_back : undefined,
    /** Of a failure: its commit is not tried again until the next push. */
    blocked: fields.blocked === true,
    /** Of a failure: the same one again is not announced. */
    muted: fields.muted === true,
    ...(await errorOf(record, options)),
  };
}

/** Texts of a list, as one. */
function listIn(value: unknown): string {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string').join(', ') : '';
}

function databaseWords(migration: string, backup: string): string {
  if (backup !== '') return restoredWords(backup);
  return Object.hasOwn(SCHEMA_WORDS, migration)
    ? `changed, ${SCHEMA_WORDS[migration as SchemaWay]}`
    : '';
}

/** Telegram drops Unicode line separators silently: they become line ends. */
function plain(text: string, redact: NoticeOptions['redact']): string {
  return redact(cleanText(text).replace(/[\u2028\u2029]/g, '\n'));
}

function shortLine(text: string, redact: NoticeOptions['redact'], max = VALUE_MAX): string {
  return cutCodePoints(plain(text, redact).replace(/\s+/g, ' ').trim(), max);
}

/** Without leading blank lines and trailing white space. A pattern would take quadratic time on many spaces. */
function withoutEdges(text: string): string {
  const kept = text.trimEnd();
  const first = kept.length - kept.trimStart().length;
  return kept.slice(kept.lastIndexOf('\n', first) + 1);
}

/** Of a failure its error, at most 800 code points, and with verbose_errors the log of a longer one, at most 3800. */
async function errorOf(
  { kind, fields, project }: Announceable,
  { redact, verboseErrors, paths }: NoticeOptions,
): Promise<{ readonly error: string; readonly log: string | undefined }> {
  const short = (error: string) => ({ error, log: undefined });
  const whole = plain(textOf(fields, 'error'), redact);
  if (kind === 'Digest') return short(headAndTail(whole, LOG_MAX));
  if (kind === 'AppDown')
    return short(headAndTail(plain(textOf(fields, 'cause'), redact).trim(), SUMMARY_MAX));
  if (kind !== 'DeployFailure' && kind !== 'JobFailed') return short('');
  const error = withoutEdges(whole);
  if (error.trim() === '') return short('no error text was recorded');
  if (codePoints(error) <= SUMMARY_MAX) return short(error);
  // The pipeline saw the whole output of the step; the error keeps only its head and tail.
  let picked = plain(textOf(fields, 'cause'), redact).trim();
  if (picked === '') {
    const { extractError } = await import('@runner/extract/extract');
    const baseline = paths && { baseline: readBaseline(paths, project) };
    const found = extractError(error, { max: SUMMARY_MAX, redact, ...baseline });
    picked = plain(found.text, redact).trim();
  }
  return {
    error: headAndTail(picked || error, SUMMARY_MAX).trimEnd(),
    log: verboseErrors ? headAndTail(error, LOG_MAX) : undefined,
  };
}

function timeOf(value: unknown): string | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  const text = Number.isNaN(time) ? '' : new Date(time).toISOString();
  // ISO 8601 allows years of more than four digits, chat services do not.
  return /^\d{4}-/.test(text) ? text : undefined;
}
