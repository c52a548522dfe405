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
import { type CommitChanges, changesIn } from './changes.ts';
import { type Announceable, type MessageKind, PLACE } from './records.ts';

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

/** What a result says about an event. */
export interface NoticeSubject {
  readonly eventType: MessageKind;
  readonly project: string;
  readonly instance: string;
  readonly version: string;
  /** The same in all messages of one deploy. */
  readonly deployId: string;
}

/** A message that a user can reword, or a change in the state of an app. */
export type NoticeKind = TemplateKind | StateEvent | 'Digest';

/** An event in words. Every text but `error` and `log` is one line; unknown ones are empty. */
export interface Notice extends NoticeSubject {
  readonly kind: NoticeKind;
  /** Place of the record in the audit log, for `audit verify --anchor`: `#57·` and 32 digits; may be empty. */
  readonly record: string;
  /** ISO 8601 UTC; undefined without a valid one in the record. */
  readonly timestamp: string | undefined;
  readonly previousVersion: string;
  readonly fromVersion: string;
  readonly reason: string;
  readonly domain: string;
  /** In words, e.g. `1 m 05 s`. */
  readonly duration: string;
  /** Of a failure after the switch: whether the rollback succeeded. */
  readonly rolledBack: boolean | undefined;
  /** Of a rollback: the active version was only started again. */
  readonly restarted?: true;
  /** Full hash; empty when the record has none. */
  readonly commit: string;
  /** Of a job: its name. */
  readonly job: string;
  /** Of a failure. */
  readonly stage: string;
  /** Who started the deploy. */
  readonly user: string;
  /** Who approved the plan that was applied; why it needed no approval. */
  readonly approvedBy: string;
  readonly emergency: string;
  /** Of a record of `runner fleet events`. */
  readonly server: string;
  /** The commits of the deploy. */
  readonly changes: CommitChanges | undefined;
  /** What a deploy or a rollback did to the database of the app; as a rule empty. */
  readonly database: string;
  /** The channel edits messages: one message a deploy. */
  readonly edited?: true;
  /** Of a failure: its commit is not tried again until the next push. */
  readonly blocked: boolean;
  /** Of a failure: at most 800 code points. */
  readonly error: string;
  /** Of a failure with a longer error, with verbose_errors: at most 3800 code points. */
  readonly log: string | undefined;
}

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
): NoticeSubject {
  const field = (name: string) => shortLine(textOf(fields, name), redact);
  return {
    eventType: kind,
    project: shortLine(project, redact) || 'unknown',
    instance: field('instance') || 'default',
    version: field('version') || (kind === 'Digest' ? field('since').slice(0, 10) : 'unknown'),
    deployId: [...field('deploy_id')].slice(0, DEPLOY_ID_LENGTH).join('') || newDeployId(random),
  };
}

export async function noticeOf(record: Announceable, options: NoticeOptions): Promise<Notice> {
  const { fields, kind } = record;
  const field = (name: string, max?: number) =>
    shortLine(textOf(fields, name), options.redact, max);
  const error =
    kind === 'DeployFailure' || kind === 'JobFailed'
      ? await errorOf(record, options)
      : kind === 'Digest'
        ? {
            summary: headAndTail(plain(textOf(fields, 'error'), options.redact), LOG_MAX),
            log: undefined,
          }
        : undefined;
  return {
    ...subjectOf(record, options),
    kind: kind === 'Digest' || isStateEvent(kind) ? kind : KINDS[kind],
    record: field(PLACE),
    timestamp: timeOf(fields.timestamp),
    previousVersion: field('previous_version'),
    fromVersion: field('from_version'),
    reason: field('reason', REASON_MAX),
    domain: field('domain'),
    changes: changesIn(fields, (text) => shortLine(text, options.redact)),
    ...(kind === 'RollbackSuccess' && isRestarted(fields) && { restarted: true }),
    commit: field('commit'),
    job: field('job'),
    stage: field('stage'),
    database: databaseWords(field('migration'), field('database_backup')),
    user: field('user'),
    approvedBy: shortLine(listIn(fields.approved_by), options.redact),
    emergency: field('emergency', REASON_MAX),
    server: field('server'),
    duration: durationText(fields.duration_ms),
    rolledBack: typeof fields.rolled_back === 'boolean' ? fields.rolled_back : undefined,
    blocked: fields.blocked === true,
    error: error?.summary ?? '',
    log: error?.log,
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

async function errorOf(
  { fields, project }: Announceable,
  { redact, verboseErrors, paths }: NoticeOptions,
): Promise<{ summary: string; log: string | undefined }> {
  const error = withoutEdges(plain(textOf(fields, 'error'), redact));
  if (error.trim() === '') return { summary: 'no error text was recorded', log: undefined };
  if (codePoints(error) <= SUMMARY_MAX) return { summary: error, log: undefined };
  // The pipeline saw the whole output of the step; the error keeps only its head and tail.
  let picked = plain(textOf(fields, 'cause'), redact).trim();
  if (picked === '') {
    const { extractError } = await import('@runner/extract/extract');
    const baseline = paths && { baseline: readBaseline(paths, project) };
    picked = plain(
      extractError(error, { max: SUMMARY_MAX, redact, ...baseline }).text,
      redact,
    ).trim();
  }
  return {
    summary: headAndTail(picked || error, SUMMARY_MAX).trimEnd(),
    log: verboseErrors ? headAndTail(error, LOG_MAX) : undefined,
  };
}

function timeOf(value: unknown): string | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  const text = Number.isNaN(time) ? '' : new Date(time).toISOString();
  // ISO 8601 allows years of more than four digits, chat services do not.
  return /^\d{4}-/.test(text) ? text : undefined;
}
