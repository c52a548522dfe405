/** One message for an event that has a record for each instance. */
import { instancesOf, type LogRecord, textOf } from '@runner/common/audit/record';

/** Events whose records have not all arrived; the oldest are announced beyond this. */
const OPEN_MAX = 1_000;

interface EventLine {
  readonly record: { readonly kind: string; readonly fields: LogRecord };
}

/**
 * Takes the records of a stream: of several that belong together, the last listed is announced, or the last that
 * came.
 */
export class Joiner<T extends EventLine> {
  /** The line of each instance, by event. */
  readonly #open = new Map<string, Map<string, T>>();

  /** Whether an event waits for records of other instances. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** The line as it is announced; undefined if another instance's follows. */
  take(line: T): T | undefined {
    const { fields, kind } = line.record;
    const names = instancesOf(fields);
    const own = textOf(fields, 'instance');
    if (names.length < 2 || !Array.isArray(fields.instances) || !names.includes(own)) return line;
    const key = [kind, textOf(fields, 'deploy_id'), ...names].join(' ');
    const lines = (this.#open.get(key) ?? new Map<string, T>()).set(own, line);
    this.#open.set(key, lines);
    if (own === names.at(-1)) return this.#announced(key, lines);
    const [oldest] = this.#open;
    return this.#open.size > OPEN_MAX && oldest ? this.#announced(...oldest) : undefined;
  }

  /** The events whose last listed record has not come, at the end of the stream. */
  *rest(): Generator<T> {
    for (const [key, lines] of this.#open) yield this.#announced(key, lines);
  }

  #announced(key: string, lines: ReadonlyMap<string, T>): T {
    this.#open.delete(key);
    const line = [...lines.values()].at(-1) as T;
    const { fields } = line.record;
    const failed = textOf(fields, 'failed_instance');
    const shown = failed === '' ? instancesOf(fields) : [failed];
    const all = (field: string, between: string) => {
      const values = shown.map((name) => textOf(lines.get(name)?.record.fields ?? {}, field));
      return [...new Set(values.filter(Boolean))].join(between);
    };
    const joined = {
      instance: shown.join(','),
      domain: all('domain', ','),
      previous_version: all('previous_version', ', '),
    };
    return { ...line, record: { ...line.record, fields: { ...fields, ...joined } } };
  }
}
