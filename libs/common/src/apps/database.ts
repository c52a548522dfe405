/** What a state file says of an app's database. */
import type { RanVersion } from './deployed.ts';

/** A migration that was begun. */
export interface StartedMigration extends RanVersion {
  deploy_id: string;
  /** Fingerprint of the database. */
  database: string;
  at: string;
  /** The backup that is being restored; absent: it is a migration. */
  backup?: string;
  /** How its command was ended, in words; absent: it runs, or runner was killed. */
  ended?: string;
  /** `applied` can say whether it is in. */
  asks?: true;
  /** It is `first`. */
  first?: true;
  /** It is the `contract` of its deploy. */
  contract?: true;
}

/** A migration that has changed a database, and whether a version from before still works with it. */
export interface Migration extends RanVersion {
  deploy_id: string;
  at: string;
  /** Fingerprint of the database. */
  database?: string;
  verdict: SchemaWay;
  /** In words. */
  reasons: string[];
  /** How to restore the backup that was made before it. */
  restore?: string;
  /** Of `proven`: the commit of the version that was tried, and what counts for others. */
  tried?: string;
  otherwise?: SchemaWay;
  /** There was no version before it. */
  first?: true;
  /** When a restore took it away, in ISO 8601, and the place of that: order.ts. */
  gone?: string;
  gone_order?: number;
  order?: number;
}

/** A sealed copy of a database, made before a migration or a restore. */
export interface DatabaseBackup {
  /** Of the deploy or rollback that made it; its file has this name. */
  deploy_id: string;
  at: string;
  /** Fingerprint of the database, and the variable that has its URL. */
  database: string;
  variable: string;
  /** Bytes of the database and of the file, and how long it took, in ms. */
  size: number;
  bytes: number;
  ms: number;
  /** The migrations that were in, also those of other apps, by their deploys. */
  migrations: string[];
  /** Of each app, the deploy whose `contract` had run last; absent in older ones. */
  contracted?: Record<string, string>;
  /** One that was killed before, and may be in it. */
  migrating?: StartedMigration;
  order?: number;
}

/**
 * How a version from before a migration gets on with the database: it was tried, it needs nothing that is
 * gone, it does, or no one knows.
 */
export type SchemaWay = 'proven' | 'additive' | 'broken' | 'unknown';
