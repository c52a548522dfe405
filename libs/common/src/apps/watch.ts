/** What a state file says of watched releases. */

/** A release that is judged since it is live. */
export interface WatchState {
  deploy_id: string;
  version: string;
  commit: string;
  instances: string[];
  /** Since when it gets the requests, and until when it is watched. */
  since: string;
  until: string;
  /** When its deploy began: what was printed before is of the version before. */
  from: string;
  /** The access log as it was when the release got its first request: what follows is its own. */
  access_log?: { inode: number; size: number };
  /** What HAProxy had counted then. */
  haproxy?: { failed: number; all: number };
  /** Instances that had no version before. */
  first?: string[];
  /** The version before no longer runs: there was too little memory for both. */
  cold?: boolean;
}

/** What the proxy had seen when a release got its first request: what follows is its own. */
export type ProxyMark = Pick<WatchState, 'access_log' | 'haproxy'>;

/** What the proxy saw while a release was live that was left for an earlier one: it is not what is usual. */
export interface ProxySpan {
  from: ProxyMark;
  to: ProxyMark;
}

/** How the newest watch ended. */
export interface WatchEnd extends Pick<WatchState, 'deploy_id' | 'version' | 'since'> {
  at: string;
  verdict: WatchVerdict;
  /** In words. */
  reason: string;
}

/** What a watch found: `not_judged` if there was too little to see, or it was ended early. */
export type WatchVerdict = 'good' | 'bad' | 'not_judged';
