/**
 * One message a deploy: which message of an event edits which. A failure also replies, since an edit
 * makes no sound; attempts of one commit share a message; the end of a state edits its beginning.
 */
import type { Notice } from './notice.ts';

/** How a message relates to earlier ones, which are known by keys such as `deploy shop a1b2c3d4`. */
export interface MessageStep {
  /** Edits the message with the first of these keys that is known; without one it is a new message. */
  readonly edits?: readonly string[];
  /** Not sent if there is no message to edit. */
  readonly onlyEdit?: true;
  readonly repliesTo?: string;
  /** The posted message is known by these keys from now on, and no other one is. */
  readonly keys?: readonly string[];
  /** The posted message is known by this key as well. */
  readonly adds?: string;
  /** This key no longer refers to a message. */
  readonly ends?: string;
}

const keyOf = (...words: readonly string[]) => words.join(' ');

/** The step of each message of a notice, in their order; further messages are new. */
export function stepsOf(notice: Notice): readonly MessageStep[] {
  const { kind, project, instance, deployId, commit } = notice;
  const deploy = keyOf('deploy', project, deployId);
  // Without its commit a deploy shares its message with no other.
  const attempts = keyOf('commit', project, commit || deployId);
  const fetching = keyOf('fetch', project);
  const running = keyOf('app', project, instance);
  const back = keyOf('rollback', project, deployId, instance);
  const token = keyOf('token', project);
  const plan = keyOf('plan', project, notice.version);
  const job = keyOf('job', project, notice.job);
  switch (kind) {
    case 'started':
      return [{ edits: [attempts], keys: [deploy, attempts] }];
    case 'success':
      return [{ edits: [deploy], ends: attempts }];
    case 'failure':
      if (isFetchFailure(notice)) return [{ keys: [fetching] }];
      return [{ edits: [deploy], onlyEdit: true }, { repliesTo: deploy }];
    case 'rollback':
      // Instances that went to different versions have a message each: the next must not overwrite the first.
      return [{ edits: [back, deploy], adds: back, ends: deploy }];
    case 'CheckRecovered':
      return [{ edits: [fetching], ends: fetching }];
    case 'AppDown':
      return [{ keys: [running] }];
    case 'AppUp':
      return [{ edits: [running], ends: running }];
    case 'WatchPassed':
    case 'WatchEnded':
      return [{ edits: [deploy], ends: deploy }];
    case 'WatchFailed':
      return [{ repliesTo: deploy }];
    case 'JobFailed':
    case 'JobMissed':
      return [{ keys: [job] }];
    case 'JobRecovered':
      return [{ edits: [job], ends: job }];
    case 'ApprovalWanted':
      return [{ keys: [plan] }];
    case 'PlanApproved':
    case 'PlanExpired':
      return [{ repliesTo: plan }];
    case 'TokenEnding':
      return [{ keys: [token] }];
    case 'TokenRenewed':
      return [{ edits: [token], ends: token }];
    default:
      return [];
  }
}

/** A failure that edits the message of its deploy, and replies to it. */
export function isTwofold(notice: Notice): boolean {
  return notice.edited === true && notice.kind === 'failure' && !isFetchFailure(notice);
}

/** Nothing was deployed: there is no message of a start. */
function isFetchFailure({ stage }: Notice): boolean {
  return stage === 'fetch';
}
