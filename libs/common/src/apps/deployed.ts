/** A version that is or was active, as a state file has it. */
import type { ProxyMark } from './watch.ts';

/** The changes of a deploy. */
export interface ChangeSummary {
  /** Commits since the version before; null: unknown, or there was none. */
  count: number | null;
  /** Of the newest commits. */
  subjects: string[];
  authors: string[];
  /** The page of the host that compares the two versions, if it has one. */
  compare?: string;
  /** What `network` of `.deploy.yml` lists and that of the version before did not; absent: nothing. */
  network_added?: string[];
  /** `name@version` of packages with an install script that had none in the version before, at most 20. */
  new_install_scripts?: string[];
  /** How many there are, if not all are listed. */
  new_install_scripts_count?: number;
  /** An operator deployed these, which are younger than `min_package_age`, or of unknown age. */
  young_packages?: string[];
}

/** A version that is or was active. */
export interface Deployed {
  version: string;
  commit: string;
  /** Name of the folder under `releases/`. */
  release: string;
  deployed_at: string;
  deploy_id: string;
  /** Order among the deploys of its instance, whatever the clock did; absent in states written by 0.1.0. */
  sequence?: number;
  /** Its place among the migrations and backups of the app: order.ts. */
  order?: number;
  /** What it brought; absent as of 0.1.0. */
  changes?: ChangeSummary;
  /** `start.type` of its `.deploy.yml`; absent as of 0.1.0. */
  start?: string;
  /** Its `.deploy.yml` has jobs. */
  jobs?: true;
  /** It was made with the operator's `.deploy.yml`; absent: with the commit's own, or without one. */
  deploy_file?: 'operator';
  /** Where its instance is found; absent if that is not known, or as of 0.2.0. */
  url?: string;
  /** What an operator chose with `--ref`. */
  ref?: string;
  /** Fingerprints of the secrets with which it was deployed, by name; absent as of 0.2.0. */
  secrets?: Record<string, string>;
  /** The proxy before its first request, if it was to be watched. */
  mark?: ProxyMark;
}

export type RanVersion = Pick<Deployed, 'version' | 'commit'>;
