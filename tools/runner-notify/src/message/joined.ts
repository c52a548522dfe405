/** One message for an event that has a record for each instance. */
import { instancesOf, type LogRecord, textOf } from '@runner/common/audit/record';

/** Events whose records have not all arrived; the oldest are dropped beyond this. */
const OPEN_MAX = 1_000;

interface EventRecord {
  readonly kind: string;
  readonly fields: LogRecord;
}

/** Takes the records of a stream: of several that belong together, the last listed is announced. */
export class Joiner {
  /** The record of each instance, by event. */
  readonly #open = new Map<string, Map<string, LogRecord>>();

  /** The record as it is announced; undefined if another instance's follows. */
  take<T extends EventRecord>(record: T): T | undefined {
    const { fields, kind } = record;
    const names = instancesOf(fields);
    if (names.length < 2 || !Array.isArray(fields.instances)) return record;
    const key = [kind, textOf(fields, 'deploy_id'), ...names].join(' ');
    const records = this.#open.get(key) ?? new Map<string, LogRecord>();
    const own = textOf(fields, 'instance');
    records.set(own, fields);
    if (own !== names.at(-1)) {
      this.#keep(key, records);
      return undefined;
    }
    this.#open.delete(key);
    const failed = textOf(fields, 'failed_instance');
    const shown = failed === '' ? names : [failed];
    const all = (field: string, between: string) => {
      const values = shown.map((name) => textOf(records.get(name) ?? {}, field));
      return [...new Set(values.filter(Boolean))].join(between);
    };
    const joined = {
      instance: shown.join(','),
      domain: all('domain', ','),
      previous_version: all('previous_version', ', '),
    };
    return { ...record, fields: { ...fields, ...joined } };
  }

  #keep(key: string, records: Map<string, LogRecord>): void {
    this.#open.set(key, records);
    const [oldest] = this.#open.keys();
    if (this.#open.size > OPEN_MAX && oldest !== undefined) this.#open.delete(oldest);
  }
}
