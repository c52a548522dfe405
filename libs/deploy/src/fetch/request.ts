/** What `fetch` is asked for, and what it answers about each app. */
import type { Server } from '@runner/common/foundation/paths';
import type { DeployOutcome } from '../pipeline/outcome.ts';
import type { Reporter } from '../report/reporter.ts';
import type { FetchResult } from './decide.ts';

/** A printed result; `isNews`: the last fetch had a different one. */
export interface Settled {
  readonly result: FetchResult;
  readonly isNews: boolean;
  /** What the app follows; undefined if its state cannot be read. */
  readonly follows?: string;
}

/** Which apps to check, and whether to deploy what is new. */
export interface FetchRequest extends Server {
  readonly apps: readonly string[];
  readonly deploy: boolean;
  /** Deploys at once; undefined: chosen by the free memory. */
  readonly jobs: number | undefined;
  readonly notify: boolean;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
  next(): AbortSignal;
  /** Called with each result: those that need no deploy together, and each deploy as it ends. */
  onResult(settled: Settled): Promise<void>;
  /** Called with the outcome of a failed deploy, for the end of its output. */
  onFailure(outcome: DeployOutcome): void;
}
