/** What is known of an app when changes are looked for, and what is announced of it. */

import type { Restarts } from '@runner/common/apps/instance-summary';
import type { CheckFailed, Reported } from '@runner/common/apps/state';
import type { AppSummary } from '@runner/common/apps/summary';
import type { DeployEvent } from '@runner/common/audit/events';

/** What `fetch` found out about the head. */
export interface HeadFound {
  readonly result: string;
  readonly text: string;
  /** null: the head is not known. */
  readonly commit: string | null;
  readonly version: string | null;
  /** The commit is not the head: it ran before a restore. */
  readonly returns?: boolean | undefined;
}

/** What is known now. */
export interface Observed {
  readonly now: Date;
  /** Undefined: no one asked the code host. */
  readonly head?: HeadFound;
  /** How often the supervisor of an instance has restarted it; undefined: it does not count. */
  restarts?(instance: string): Restarts | undefined;
  /** What an instance that is down printed at its end; '' if that does not say why. */
  lastWords?(instance: string): string;
  /** Without notifications what is over stays known: a later `fetch` announces its end. */
  readonly notify: boolean;
  /** A failed check is announced too: it was to be deployed. */
  readonly deploys: boolean;
  readonly check: CheckFailed | null;
  readonly summary: AppSummary;
  /** What waits for a deploy window, or until its packages are old enough, in words. */
  readonly waits: string | undefined;
  /** What happened on the host to the tag that is active, in words. */
  readonly tag: string | undefined;
}

/** An event without what every event of the app has. */
export type AlertEvent = Pick<DeployEvent, 'event_type'> & Partial<DeployEvent>;

/** The changes of an app, and what is announced from now on. */
export interface AlertChanges {
  readonly changes: readonly AlertEvent[];
  readonly reported: Reported;
}
