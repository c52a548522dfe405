/** Notices that several tests speak about. */
import { redactor } from '@runner/common/secret';
import type { Notice } from '../src/notice.ts';

/** What `noticeOf` needs beside a record. */
export const NOTICE_OPTIONS = {
  redact: redactor(),
  verboseErrors: true,
  random: () => new Uint8Array(4),
};

/** A failure in short. */
export const NOTICE: Notice = {
  eventType: 'DeployFailure',
  kind: 'failure',
  project: 'shop',
  instance: 'default',
  version: 'v1',
  deployId: 'a1b2c3d4',
  timestamp: undefined,
  previousVersion: '',
  fromVersion: '',
  reason: '',
  domain: '',
  duration: '',
  rollbackFailed: false,
  error: 'boom',
  log: undefined,
};
