/** What the audit log has last about an instance of an app, and about one of its deploys. */
import { linesBackward } from '../files/lines-backward.ts';
import type { Paths } from '../foundation/paths.ts';
import { gzipLines, openLogs } from './files.ts';
import { instancesOf, kindOf, type LogRecord, projectOf, readRecord } from './record.ts';

export interface DeployOfInstance {
  readonly app: string;
  readonly instance: string;
  readonly deployId: string;
}

/** What was found; undefined where the log has none, or no longer. */
export interface ActiveRecords {
  /** The newest DeploySuccess or RollbackSuccess: what it made active. */
  readonly newest: LogRecord | undefined;
  /** The DeploySuccess of the deploy. */
  readonly made: LogRecord | undefined;
}

/** Looks for them, newest first, through all files of the log. Throws `file_unreadable` for the live log. */
export async function activeRecords(
  paths: Paths,
  { app, instance, deployId }: DeployOfInstance,
): Promise<ActiveRecords> {
  let newest: LogRecord | undefined;
  for (const { fd, path } of openLogs(paths)) {
    for await (const record of recordsOf(fd, path, app)) {
      const isSuccess = kindOf(record) === 'DeploySuccess';
      if (!isSuccess && kindOf(record) !== 'RollbackSuccess') continue;
      if (projectOf(record) !== app || !instancesOf(record).includes(instance)) continue;
      // Of 0.1.0 one record is of all its instances.
      if (record.instance !== instance && Array.isArray(record.instances)) continue;
      newest ??= record;
      if (isSuccess && record.deploy_id === deployId) return { newest, made: record };
    }
  }
  return { newest, made: undefined };
}

/** Records that may be of an app, newest first. */
async function* recordsOf(fd: number, path: string, app: string): AsyncGenerator<LogRecord> {
  const needle = Buffer.from(JSON.stringify(app));
  const also = Buffer.from('Success"');
  if (!path.endsWith('.gz')) {
    for (const { line } of linesBackward(fd, needle, { also })) {
      const record = readRecord(line);
      if (record) yield record;
    }
    return;
  }
  const found: LogRecord[] = [];
  for await (const line of gzipLines(fd, () => {})) {
    const record = line?.includes(needle) && line.includes(also) ? readRecord(line) : undefined;
    if (record) found.push(record);
  }
  yield* found.reverse();
}
