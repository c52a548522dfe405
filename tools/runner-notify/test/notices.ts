/** Notices that several tests speak about. */
import { EVENT_TYPES } from '@runner/common/audit/events';
import { redactor } from '@runner/common/secrets/redactor';
import { type Notice, noticeOf } from '../src/message/notice.ts';

/** What `noticeOf` needs beside a record. */
export const NOTICE_OPTIONS = {
  redact: redactor(),
  verboseErrors: true,
  random: () => 0,
};

/** A failure in short. */
export const NOTICE: Notice = {
  eventType: 'DeployFailure',
  kind: 'failure',
  project: 'shop',
  instance: 'default',
  version: 'v1',
  deployId: 'a1b2c3d4',
  record: '',
  timestamp: undefined,
  previousVersion: '',
  fromVersion: '',
  reason: '',
  domain: '',
  changes: undefined,
  commit: '',
  job: '',
  approvedBy: '',
  emergency: '',
  stage: '',
  database: '',
  user: '',
  server: '',
  duration: '',
  rolledBack: undefined,
  blocked: false,
  muted: false,
  restarted: false,
  error: 'boom',
  log: undefined,
};

/** A notice of each kind, all of whose values are this character, five thousand times. */
export function longestNotices(character: string): Promise<Notice[]> {
  const long = character.repeat(5000);
  const fields = {
    version: long,
    instance: long,
    previous_version: long,
    reason: long,
    rolled_back: false,
    error: long,
  };
  const records = EVENT_TYPES.map((kind) => ({ kind, project: long, fields }));
  return Promise.all(records.map((record) => noticeOf(record, NOTICE_OPTIONS)));
}
