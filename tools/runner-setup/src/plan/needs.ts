/** From what a plan is made, and what it says. */
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { SetupChoices } from '@runner/deploy/instances/setup-record';
import type { AppFacts } from '../app/facts.ts';
import type { Machine } from '../steps/machine.ts';
import type { Thing } from '../steps/thing.ts';

/** An app, what its operator chose, and the server. */
export interface AppNeeds {
  readonly machine: Machine;
  readonly app: string;
  readonly file: DeployFile;
  readonly facts: AppFacts;
  readonly choices: SetupChoices;
  /** Plans as if certbot had all certificates. */
  readonly certified?: boolean;
}

/** What an app needs, and what a person should know or do. */
export interface NeededThings {
  readonly things: readonly Thing[];
  /** Of these, what setup made before stays as it is for now. */
  readonly later?: readonly Thing[];
  /** Sentences. */
  readonly notes: readonly string[];
}
