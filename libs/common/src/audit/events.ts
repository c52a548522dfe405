/** The deploy events: their kinds and fields. */

import type { SchemaWay } from '../apps/database.ts';
import type { ChangeSummary } from '../apps/deployed.ts';
import type { SignedBy } from '../apps/signed.ts';
import type { WatchVerdict } from '../apps/watch.ts';
import type { NetworkHost, NetworkRefusal } from './network.ts';

/** What was found while a release had a share of the requests. */
export interface CanaryShare {
  percent: number;
  verdict: WatchVerdict;
  /** In words. */
  reason: string;
}

/** The kinds of a deploy, in its order. */
const DEPLOY_EVENTS = [
  'DeployStarted',
  'DeploySuccess',
  'DeployFailure',
  'RollbackSuccess',
] as const;
/** Changes in the state of an app; they belong to no deploy. */
const STATE_EVENTS = [
  'AppDown',
  'AppUp',
  'ApprovalWanted',
  'CertEnding',
  'CheckRecovered',
  'DeployWaiting',
  'HeadBehind',
  'JobFailed',
  'JobMissed',
  'JobRecovered',
  'JobSlow',
  'PlanApproved',
  'PlanExpired',
  'TagChanged',
  'TokenEnding',
  'TokenRenewed',
  'WatchEnded',
  'WatchFailed',
  'WatchPassed',
] as const;
/** What operators did with an app, and what became of previews; not announced. */
export const OPERATOR_EVENTS = [
  'AppStarted',
  'AppStopped',
  'AppRestarted',
  'ContractRun',
  'TrafficHeld',
  'TrafficReleased',
  'PreviewReady',
  'PreviewFailed',
  'PreviewRemoved',
] as const;
/** What an operator did with an app. */
export type OperatorEvent = (typeof OPERATOR_EVENTS)[number];
/** The kinds that are announced. */
export const EVENT_TYPES = [...DEPLOY_EVENTS, ...STATE_EVENTS] as const;
/** The kinds that `emit` takes. */
export const EMITTED_TYPES = [...EVENT_TYPES, ...OPERATOR_EVENTS] as const;
/** Every kind in an audit log. */
export const RECORDED_TYPES = [...EMITTED_TYPES, 'GuardBypassed', 'AgentCall'] as const;
/** A kind of event that is announced. */
export type EventType = (typeof EVENT_TYPES)[number];
/** A change in the state of an app. */
export type StateEvent = (typeof STATE_EVENTS)[number];

/** Whether a kind is a change in the state of an app. */
export function isStateEvent(kind: EventType): kind is StateEvent {
  return STATE_EVENTS.includes(kind as StateEvent);
}

/** One line of the audit log. Unknown fields are kept. */
export interface DeployEvent {
  /** ISO 8601 UTC with milliseconds. */
  timestamp: string;
  event_type: (typeof RECORDED_TYPES)[number];
  project: string;
  instance: string;
  version: string;
  /** 8 characters, the same in all events and messages of one deploy; null without a deploy. */
  deploy_id: string | null;
  /** `event_type` and `project` under their other names; absent in older records. */
  event?: DeployEvent['event_type'];
  app?: string;
  commit?: string;
  /** The plan that it applied, or that is announced, and who approved it. */
  plan?: string;
  approved_by?: string[];
  /** Of AgentCall: the grant, empty without one; the tool; how it went; a SHA-256 of the arguments, in hex. */
  grant?: string;
  tool?: string;
  outcome?: string;
  arguments?: string;
  /** Why root went on without an approval. */
  emergency?: string;
  /** What triggered it: `manual`, `fetch`. */
  trigger?: string;
  previous_version?: string;
  duration_ms?: number;
  domain?: string;
  /** All instances of the event, each of which has its own record; absent in records of 0.1.0. */
  instances?: string[];
  /** Of a token: all apps that share it, if there are several. */
  projects?: string[];
  /** Of a failure at one of several instances. */
  failed_instance?: string;
  /** Of a fleet's deploy or rollback: the id of the order. */
  order?: string;
  /** Who began it: the user, before sudo; `timer`. */
  user?: string;
  /** First line of the commit's message. */
  subject?: string;
  /** Name of the commit's author. */
  author?: string;
  /** Who signed the commit, where `require_signed` is on. */
  signed_by?: SignedBy;
  /** The last accepted commit, which this one does not descend from: `--accept-rewrite`. */
  rewrite_of?: string;
  /** Of DeploySuccess: SHA-256 of what its release holds, and of the signed statement of it, in hex. */
  tree?: string;
  statement?: string;
  /** Of DeployStarted, DeploySuccess and DeployFailure: what the deploy brings. */
  changes?: ChangeSummary;
  /** At the end: longest time without an answer to a prober, in ms. */
  gap_ms?: number;
  /** At the end: the shares of the requests that the release got first. */
  canary?: CanaryShare[];
  /** When the commit was made, ISO 8601 UTC. */
  committed_at?: string;
  /** At the end: how long the stages took. */
  steps?: { stage: string; ms: number }[];
  /** At the end: how a version from before gets on with the database that was migrated, and why. */
  migration?: SchemaWay;
  migration_reasons?: string[];
  /** How to restore the backup that was made before the migration. */
  migration_restore?: string;
  /** At the end: the hosts that the build reached, and those that it was refused; at most 50 each. */
  network?: NetworkHost[];
  network_refused?: NetworkRefusal[];
  /** Of a manual rollback: the backup of the database that was restored with it. */
  database_backup?: string;
  /** Of TokenEnding and CertEnding: when it ends, ISO 8601 UTC. */
  expires_at?: string;
  /** Of AppDown: restarts in the last 10 minutes, and whether the kernel killed it for want of memory. */
  restarts?: number;
  oom?: boolean;
  /** Of what a job did: its name. */
  job?: string;
  /** Of what became of a preview: its app. */
  preview_of?: string;
  /** Of a failure: an operator ended the deploy, or its process was killed. */
  interrupted?: boolean;
  /** Of a deploy that `runner cancel` ended: by whom. */
  cancelled_by?: string;
  error?: string;
  /** Of a failure: the lines of the output that explain it, at most 800 code points. */
  cause?: string;
  /** True if `error` was too long and lost its middle. */
  truncated?: boolean;
  stage?: string;
  /** Path of the deploy's log under the root. */
  log?: string;
  reason?: string;
  from_version?: string;
  /** The tool that deployed, if it was not runner; absent in runner's own records. */
  source?: string;
  /** Of a manual rollback: the commit that was left. */
  from_commit?: string;
  /** True if it had to wait until the log was writable. */
  late?: boolean;
  /** Place in the chain; the log's writer adds it. */
  seq?: number;
  /** Hash of what precedes it in the log. */
  prev?: string;
  [field: string]: unknown;
}

/** Whether a value is a deploy_id: 8 characters. */
export function isDeployId(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_-]{8}$/.test(value);
}

/** A new deploy_id: 8 hexadecimal characters. */
export function newDeployId(random: () => number): string {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
}
