/** The shape of a state file. */
import type { CommitChecks, RequiredChecks } from './checks.ts';
import type { DatabaseBackup, Migration, StartedMigration } from './database.ts';
import type { Deployed, RanVersion } from './deployed.ts';
import type { Hold } from './hold.ts';
import type { Paused, Stopped, TrafficHold } from './operator.ts';
import type { PackageAge } from './package-age.ts';
import type { PreviewMark, PreviewSettings } from './preview.ts';
import type { AcceptedCommit, RequireSigned } from './signed.ts';
import type { Draining, SlotName, SlotState } from './slots.ts';
import type { ProxySpan, WatchEnd, WatchState } from './watch.ts';

/** The operator's own `.deploy.yml`, of `runner edit --deploy-file`. */
export interface OperatorFile {
  /** Byte for byte. */
  text: string;
  /** It counts even if the commit has a file of its own. */
  wins?: boolean;
  since: string;
  by: string;
}

/** What is and was active in one instance. */
export interface InstanceState {
  current: Deployed | null;
  /** Earlier good versions, newest first, each of another commit. */
  previous: Deployed[];
  /** When `current` became active: after a rollback, later than its deploy. */
  active_since?: string;
  /** Who made it active; absent in states written by 0.1.0. */
  active_by?: string;
  /** Set while `current` could not be restarted after a failure. */
  broken?: { since: string; reason: string } | null;
  /** What runs in each slot; absent for an instance without `traffic`. */
  slots?: Record<SlotName, SlotState | null>;
  /** Set while the version before, `from`, finishes its requests; `restart`: the record that is written when it is no longer needed. */
  draining?: (Draining & { restart?: object; from?: Deployed }) | null;
  /** What ran without `traffic` and still does, until `runner stop --before-traffic`. */
  before_traffic?: Deployed | null;
}

/** The journal of an operation that is running, or was when its process died. */
export interface Deploying {
  deploy_id: string;
  pid: number;
  started: string;
  /** Boot id from /proc: a pid means nothing after a restart. */
  boot_id: string;
  commit: string;
  version: string;
  instance: string;
  stage: string;
  /** The slot that is used, of an instance with `traffic`. */
  slot?: SlotName;
  /** Start time of the process in clock ticks; absent as of 0.1.0. */
  start_time?: string;
  /** Who began it; absent as of 0.1.0. */
  user?: string;
  /** Instances that may have been stopped or switched so far. */
  touched?: string[];
  /** It brings back what ran before a restore. */
  returns?: boolean;
  /** Its `.deploy.yml` is the operator's. */
  deploy_file?: 'operator';
  /** Set by a manual rollback: the target release of each instance. */
  rollback?: Record<string, string>;
  /** Set by a command that is neither a deploy nor a rollback. */
  verb?: 'start' | 'stop' | 'restart';
  /** The channels that are notified. */
  notify?: string;
  /** Head of the branch, put on hold if only some instances are deployed. */
  passed_over?: string;
  /** Only one instance is deployed. */
  partial?: boolean;
  /** What it put into empty places of `shared/`, below that folder, and a hash of what it looked like. */
  seeds?: { shared: string; path: string; print: string }[];
  /** The backup of the database that it restores; what was there before is in a backup of its own. */
  database?: string;
  /** It restores the database: until it is over, or undone, no job begins. */
  rests_jobs?: true;
  /** Why it failed, until that is recorded. */
  failed?: { stage: string; error: string; blame: string };
}

/** The latest failure of a deploy, or of a manual rollback; kept after a later success. */
export interface LastFailure {
  version: string;
  commit: string;
  deploy_id: string;
  stage: string;
  /** Its first line. */
  error: string;
  at: string;
  /** It was a manual rollback: 0.1.0 kept both in one place. */
  rollback?: boolean;
  /** Instances that were switched after it; absent in states written by 0.1.0. */
  followed_by?: string[];
  /** An operator ended it: Ctrl-C, `runner cancel`. */
  interrupted?: boolean;
}

/** Why `fetch` could not check for new commits. */
export interface CheckFailed {
  /** The first failed check in a row. */
  since: string;
  /** Code of the failure. */
  error: string;
  message: string;
  /** Which commit was refused, if it is about one. */
  commit?: string;
}

/** Instances that were restored and have not been deployed here yet. */
export interface RestoredInstances {
  instances: Record<string, RanVersion>;
  /** Failures of these commits here: the block of the branch's head is another one. */
  failures?: number;
}

/** The certificate that a domain shows its visitors. */
export interface Certificate {
  /** null: it was not reached, or shows that of another name. */
  ends: string | null;
  /** When it was looked at. */
  at: string;
  /** The end that was seen last, of one that was not reached. */
  was?: string | undefined;
  /** The days before its end at which that was announced last. */
  told?: number | undefined;
}

/** What was announced of an app and is not over yet, so that a change is announced once. */
export interface Reported {
  /** Codes of failed checks. */
  check?: string[];
  /** Instances that were down. */
  down?: string[];
  /** The token's end, and how many days were left. */
  token?: { ends: string; days: number; fingerprint?: string } | undefined;
  /** What waits for a deploy window, or until its packages are old enough, in words. */
  waits?: string | undefined;
  /** What happened on the host to the tag that is active, in words. */
  tag?: string | undefined;
  /** When a reminder was sent that the head does not run. */
  behind?: string | undefined;
  /** Of each instance: when it was looked at, in ms since 1970, and how often it had been restarted. */
  restarts?: Record<string, readonly (readonly [at: number, count: number])[]>;
  /** The last result that `fetch --quiet` printed. */
  said?: string;
}

/** The tags that an app follows: of those that match, the highest. */
export interface TagRule {
  /** `*` is any text, `?` any character. */
  pattern: string;
  /** The range of semver that their versions must be in; null: any. */
  semver: string | null;
}

/** One app. Unknown fields survive a rewrite. */
export interface AppState {
  /** 2: it uses what 0.1.0, which refuses that number, would misread. */
  version: 1 | 2;
  app: string;
  /** Name of the code host; absent: `default`. */
  host?: string;
  repo: string;
  /** Empty while tags are followed. */
  branch: string;
  tags?: TagRule | undefined;
  /** Pathspecs of git; only what changes one of them is deployed. */
  paths?: string[] | undefined;
  created_at: string;
  updated_at: string;
  state: {
    repohost_token?: string | null;
    /** The id of a GitHub App, whose key is sealed instead of a token. */
    github_app?: string;
    /** As the code host said when the token was last tested; absent if it did not. */
    repohost_token_ends?: string;
    /** Of the token that was tested then: apps that share it have the same. */
    repohost_token_fingerprint?: string;
    [field: string]: unknown;
  };
  instances: Record<string, InstanceState>;
  /** Consecutive failures of one commit. */
  failures: { commit: string; count: number; last_at: string; stage: string } | null;
  held: Hold | null;
  last_failure?: LastFailure | null;
  last_rollback_failure?: LastFailure | null;
  /** Failed attempts at the head of the branch in a row, also those that do not count as failures. */
  attempts?: { commit: string; count: number; at: string } | null;
  deploying: Deploying | null;
  last_checked: string | null;
  /** Head of the branch when it was last fetched; absent in states written by 0.1.0. */
  head?: string | undefined;
  /** The version of a commit that was the head. */
  head_version?: { commit: string; version: string };
  /** Since when `fetch` knows a head that does not run. */
  behind_since?: string | null;
  /** By domain. */
  certificates?: Record<string, Certificate>;
  /** Set while `fetch` fails: nothing new is deployed then. */
  check_failed?: CheckFailed | null;
  reported?: Reported;
  /** In the state: a commit must not lift its own gate. */
  require_checks?: RequiredChecks;
  checks?: CommitChecks;
  /** Of the commit that was looked at last. */
  package_age?: PackageAge;
  /** In the state: a commit must not decide whether it needs a signature. */
  require_signed?: RequireSigned;
  /** Set while signatures are required. */
  accepted?: AcceptedCommit;
  /** For commits without a `.deploy.yml`. */
  deploy_file?: OperatorFile | undefined;
  /** Set while it has previews. */
  previews?: PreviewSettings | undefined;
  /** Set if it is one. */
  preview?: PreviewMark;
  stopped?: Stopped | null;
  paused?: Paused | null;
  restored?: RestoredInstances | undefined;
  /** Set while a release is watched. */
  watch?: WatchState | null;
  watched?: WatchEnd | null;
  /** The newest ones, the oldest first. */
  unusual?: ProxySpan[];
  /** Set while requests are held. */
  traffic_hold?: TrafficHold | null;
  /** Set while a migration runs: after a kill no one knows whether it is in. */
  migrating?: StartedMigration | null;
  /** Fingerprint of the database that it migrated last. */
  database?: string;
  /** The deploy of the newest migration that any server has noted in it, when this app migrated it last. */
  database_seen?: string;
  /** The killed migration of another server that was answered for here last. */
  database_answered?: string;
  /** The deploy whose `first` has succeeded: it is not run again. */
  first_run?: string;
  /** What has changed the database, the oldest first. */
  migrations?: Migration[];
  /** The deploy whose `contract` was run last. */
  contracted?: string | null;
  /** The deploy whose `contract` failed last: no deploy runs it again. */
  contract_failed?: string;
  /** The oldest first; the file of one may have been removed. */
  database_backups?: DatabaseBackup[];
  [field: string]: unknown;
}
