/** An instance, as `.deploy.yml` describes it. */
import type { Traffic } from './traffic.ts';

/** One place in which an app runs, with its environment. */
export interface Instance {
  readonly name: string;
  readonly domain: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Absent: one version is stopped before the next one is started. */
  readonly traffic?: Traffic;
}
