/** The context of an operation: deploy, rollback, start, stop, restart, or the recovery of one that died. */
import type { AppSecrets } from '@runner/common/app-secrets/open';
import type { ChangeSummary, Deployed } from '@runner/common/apps/deployed';
import type { SignedFacts } from '@runner/common/apps/signed';
import type { AppState, Deploying } from '@runner/common/apps/state';
import { type CanaryShare, type DeployEvent, newDeployId } from '@runner/common/audit/events';
import type { Server } from '@runner/common/foundation/paths';
import { initiatorOf } from '@runner/common/foundation/user';
import type { Redactor } from '@runner/common/secrets/redactor';
import type { CommitInfo } from '../git/history.ts';
import { NetworkNotes } from '../guard/notes.ts';
import { type Notifier, silent } from '../report/notifier.ts';
import { type Reporter, redacting, withoutSteps } from '../report/reporter.ts';
import { type DeployLog, openDeployLog } from '../run/log.ts';
import type { StepFailure } from '../run/step.ts';
import { openSandbox, openSandboxAnyway, type Sandbox } from '../sandbox/sandbox.ts';
import { StageClock } from './clock.ts';

/** What an operation on one app has at hand. All but the last five stay as they are. */
export interface Operation extends Server {
  readonly deployId: string;
  readonly trigger: string;
  readonly user: string;
  /** As it was when the lock was taken. */
  readonly app: AppState;
  readonly reporter: Reporter;
  readonly redact: Redactor;
  /** As they were when the lock was taken. */
  readonly secrets: AppSecrets;
  /** Which of them processes get: those of today, or those with which they were last started. */
  readonly values: 'today' | 'started';
  readonly sandbox: Sandbox;
  readonly log: DeployLog;
  readonly signal: AbortSignal;
  /** Aborted by the next signal of the operator: ends a hook that runs after the end. */
  next(): AbortSignal;
  readonly clock: StageClock;
  /** How it ends is being recorded: a command that wants the lock waits for it. */
  ending(): void;
  notifier: Notifier;
  /** The plan that it applies and who approved that, or why it needed none. */
  approval?: Pick<DeployEvent, 'plan' | 'approved_by' | 'emergency'> | undefined;
  /** What has been done so far, to be undone; undefined for what needs no undo. */
  journal: Journal | undefined;
  /** What its commands reached, and what they were refused. */
  readonly network: NetworkNotes;
  /** What was found at each share of the requests so far. */
  readonly shares: CanaryShare[];
  /** Instances that went back when what it had made active died, and why. */
  readonly lost: Map<string, StepFailure>;
}

/** What an operation does, in the state of its app: what a kill leaves to be undone. */
export type Journal = Deploying;

export interface Deploy extends Operation {
  readonly commit: string;
  readonly version: string;
  readonly instances: readonly string[];
  /** Head of the branch, if the operator chose another commit, or only one instance. */
  readonly skippedHead: string | undefined;
  /** Only one instance is deployed: the others stay as they are. */
  readonly partial: boolean;
  /** What the operator chose with `--ref`. */
  readonly ref?: string | undefined;
  /** It ran before a restore. */
  readonly returns: boolean;
  /** Its `.deploy.yml` is the operator's. */
  readonly isOperators: boolean;
  /** Author and subject of the commit, if git knows them, and who signed it, where that is required. */
  readonly about: CommitInfo & SignedFacts;
  readonly changes: ChangeSummary;
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

/** Whether an instance is back on an earlier version. */
export function isBack<M extends Move>(move: M): move is M & { readonly to: Deployed } {
  return move.to !== null && move.problem === undefined;
}

/** What was found at each share of the requests, for the record and the outcome. */
export function sharesOf({ shares }: Operation): Pick<DeployEvent, 'canary'> {
  return shares.length > 0 ? { canary: shares } : {};
}

export function problemsOf(moves: readonly Move[], verb: 'rollback' | 'return'): string[] {
  return moves.flatMap(({ to, problem }) =>
    problem === undefined ? [] : [`${verb} to ${to?.version ?? 'nothing'} failed: ${problem}`],
  );
}

/** What a context is made from, beside the app and its secrets. */
export interface ContextRequest
  extends Server,
    Partial<Pick<Operation, 'reporter' | 'trigger' | 'signal' | 'next'>> {
  /** Gets what is to be said of the sandbox; absent: the log. */
  note?(text: string): void;
  readonly user?: string | undefined;
  readonly deployId?: string | undefined;
  /** Without a sandbox that config.yml requires, nothing is done. */
  readonly isStrict?: boolean;
  /** Further folders that its commands find empty. */
  readonly hidden?: readonly string[];
}

/** The context of an operation. Throws `sandbox_unavailable`, `config_invalid`. */
export function contextOf(
  request: ContextRequest,
  app: AppState,
  { secrets, redact }: Pick<Operation, 'secrets' | 'redact'>,
): Operation {
  const { io, paths, reporter = withoutSteps({ note: () => {} }), trigger = 'manual' } = request;
  const deployId = request.deployId ?? newDeployId(io.random);
  const log = openDeployLog({ paths, app: app.app, deployId, redact, onOutput: reporter.output });
  const open = request.isStrict ? openSandbox : openSandboxAnyway;
  return {
    io,
    paths,
    app,
    redact,
    secrets,
    reporter: redacting(reporter, redact),
    deployId,
    trigger,
    log,
    user: request.user ?? initiatorOf(io, trigger),
    values: 'today',
    sandbox: open({
      paths,
      env: io.env,
      app: app.app,
      hidden: request.hidden,
      note: request.note ?? log.line,
    }),
    signal: request.signal ?? new AbortController().signal,
    next: request.next ?? (() => new AbortController().signal),
    clock: new StageClock(io),
    notifier: silent,
    journal: undefined,
    ending: () => {},
    network: new NetworkNotes(),
    shares: [],
    lost: new Map(),
  };
}

/**
 * For what must not be interrupted, and leaves nothing to be undone: rolling back, and stopping. It
 * uses the secrets that ran a moment ago.
 */
export function uninterrupted<O extends Operation>(op: O): O {
  const { signal } = new AbortController();
  return { ...op, signal, values: 'started', journal: undefined };
}

/** Prints a line, and logs it. */
export function say({ log, reporter }: Pick<Operation, 'log' | 'reporter'>, text: string): void {
  log.line(text);
  reporter.note(text);
}
