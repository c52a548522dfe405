/** What a deploy, a rollback and a recovery share. */
import type { AppSecrets } from '@runner/common/app-secrets/open';
import type { AppState, Changes, Deployed } from '@runner/common/apps/state';
import type { Server } from '@runner/common/foundation/paths';
import type { Redactor } from '@runner/common/secrets/redactor';
import type { CommitInfo } from '../git/commit-info.ts';
import type { Notifier } from '../report/notifier.ts';
import type { Reporter } from '../report/reporter.ts';
import type { DeployLog } from '../run/log.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { StageClock } from './clock.ts';

/** A command running on one app, under the app's lock. */
export interface Operation extends Server {
  /** As it was when the lock was taken. */
  readonly app: AppState;
  readonly reporter: Reporter;
  readonly redact: Redactor;
  /** As they were when the lock was taken. */
  readonly secrets: AppSecrets;
}

/** What names a version of an app. */
export type Version = Pick<Deployed, 'release' | 'version' | 'commit'>;

/** An instance that goes, or went, from one version to another. */
export interface Move {
  readonly instance: string;
  readonly from: Omit<Version, 'release'>;
  /** null: there is no version to roll back to; the instance is stopped. */
  readonly to: Deployed | null;
  /** Why the move failed; undefined if it is only planned, or succeeded. */
  readonly problem?: string | undefined;
}

/** An instance that rolled back to an earlier version. */
export type MoveBack<M extends Move = Move> = M & { readonly to: NonNullable<Move['to']> };

/** Whether an instance is back on an earlier version. */
export function isBack<M extends Move>(move: M): move is MoveBack<M> {
  return move.to !== null && move.problem === undefined;
}

/** Each failed move in words. */
export function problemsOf(moves: readonly Move[], verb: 'rollback' | 'return'): string[] {
  return moves.flatMap(({ to, problem }) =>
    problem === undefined ? [] : [`${verb} to ${to?.version ?? 'nothing'} failed: ${problem}`],
  );
}

/** A deploy in progress: what its stages share. */
export interface Job extends Operation {
  readonly deployId: string;
  readonly commit: string;
  readonly version: string;
  readonly trigger: string;
  /** Names of the instances that are deployed. */
  readonly instances: readonly string[];
  /** Head of the branch, if the operator chose another commit, or only one instance. */
  readonly skippedHead: string | undefined;
  /** Only one instance is deployed: the others stay as they are. */
  readonly partial: boolean;
  /** It ran before a restore. */
  readonly returns: boolean;
  readonly signal: AbortSignal;
  readonly log: DeployLog;
  readonly sandbox: Sandbox;
  /** When the deploy began, by `io.elapsed()`. */
  readonly began: number;
  notifier: Notifier;
  /** Where the deploy is, and how long its stages took. */
  readonly stages: StageClock;
  /** Author and subject of the commit, if git knows them. */
  readonly about: CommitInfo;
  readonly changes: Changes;
}
