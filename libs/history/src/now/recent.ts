/** The newest deploys of an app, read again only when the audit log has changed. Appends nothing. */
import { statSync } from 'node:fs';
import { Unread } from '@runner/common/audit/files';
import { isClosed } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { SecretSources } from '@runner/common/redaction/known-secrets';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { type HistoryRow, rowOf } from '../deploys/deploy.ts';
import { Deploys } from '../deploys/fold.ts';
import { newestRecords } from '../log/filter.ts';
import { closeLogs, openLogs } from '../log/lines.ts';

/** Records that are read back. */
const RECORDS = 400;
/** Plain files of the log that are read back. */
const FILES = 2;
const ROWS = 10;

/** Reads the history of one app after the other. */
export class RecentDeploys {
  readonly #place: SecretSources;
  readonly #kept = new Map<string, { readonly of: string; readonly rows: readonly HistoryRow[] }>();

  constructor(place: SecretSources) {
    this.#place = place;
  }

  /** As `#rowsOf`; in words, why they cannot be read. */
  async rowsOf(app: string, running: string | undefined): Promise<readonly HistoryRow[] | string> {
    try {
      return await this.#rowsOf(app, running);
    } catch (error) {
      if (error instanceof Failure) return `${error.message} (${error.code})`;
      throw error;
    }
  }

  /** Redacted, the newest first; `running` is the id of the deploy that goes on. */
  async #rowsOf(app: string, running: string | undefined): Promise<readonly HistoryRow[]> {
    const { auditLog } = this.#place.paths;
    const stat = orElse(() => statSync(auditLog), undefined);
    // Of a closed folder, what opens the log says why.
    if (!stat && !isClosed(auditLog)) return [];
    const of = `${stat?.ino} ${stat?.size} ${running}`;
    const kept = this.#kept.get(app);
    if (kept?.of === of) return kept.rows;
    const cleaner = new RecordCleaner(this.#place);
    const rows: HistoryRow[] = [];
    for (const deploy of (await this.#deploysOf(app)).slice(-ROWS).reverse()) {
      const row = rowOf(deploy);
      const isOpen = row.result === 'unknown' && deploy.source === null;
      const result = row.deploy_id === running ? 'running' : 'interrupted';
      const settled = { ...row, ...(isOpen && { result }) };
      rows.push((await cleaner.clean(settled)) as unknown as HistoryRow);
    }
    this.#kept.set(app, { of, rows });
    return rows;
  }

  async #deploysOf(project: string) {
    const deploys = new Deploys();
    const logs = openLogs(this.#place.paths, () => {});
    try {
      const plain = logs.filter(({ path }) => !path.endsWith('.gz')).slice(-FILES);
      const sources = { logs: plain, waiting: [] };
      const records = await newestRecords(sources, { project }, RECORDS, new Unread());
      for (const record of records) deploys.add(record);
    } finally {
      closeLogs(logs);
    }
    return deploys.all;
  }
}
