/** A record with all its texts redacted. */
import { isOrdinary, ORDINARY } from '../secrets/plain-fields.ts';
import type { Redact } from './known-secrets.ts';

/** Other known fields: their names need no redaction. */
const NAMES = new Set([
  ...['previous_version', 'from_version', 'duration_ms', 'domain', 'error', 'cause', 'job'],
  ...['truncated', 'stage', 'log', 'reason', 'late', 'rolled_back', 'guards', 'guard', 'path'],
  ...[
    'command',
    'user',
    'order',
    'uid',
    'sudo_user',
    'instances',
    'failed_instance',
    'subject',
    'author',
    'source',
  ],
  ...[
    'steps',
    'interrupted',
    'ms',
    'gap_ms',
    'migration',
    'migration_reasons',
    'migration_restore',
    'database_backup',
    'changes',
    'count',
    'subjects',
    'authors',
    'signed_by',
    'rewrite_of',
    'principal',
    'key',
    'kind',
    'compare',
    'network',
    'network_refused',
    'network_added',
    'new_install_scripts',
    'new_install_scripts_count',
    'young_packages',
    'host',
    'port',
    'connections',
    'up',
    'down',
    'why',
    'by',
    'expires_at',
    'restarts',
    'oom',
  ],
]);

/** The record with all its texts redacted, names of unknown fields included; itself if nothing changed. */
export function cleanRecord<T extends Readonly<Record<string, unknown>>>(
  record: T,
  redact: Redact,
): T {
  return cleanFields(
    record,
    (field, value) => (isOrdinary(field, value) ? value : cleanValue(value, redact)),
    redact,
  ) as T;
}

function cleanFields(
  fields: object,
  clean: (field: string, value: unknown) => unknown,
  redact: Redact,
): object {
  const entries: [string, unknown][] = Object.entries(fields);
  let changed = false;
  let renamed = false;
  for (const entry of entries) {
    const [field, value] = entry;
    if (!NAMES.has(field) && !ORDINARY.has(field)) entry[0] = redact(field);
    entry[1] = clean(field, value);
    renamed ||= entry[0] !== field;
    changed ||= entry[1] !== value;
  }
  if (!changed && !renamed) return fields;
  return Object.fromEntries(renamed ? withOwnNames(entries) : entries);
}

/** Numbers names that have become equal. */
function withOwnNames(entries: [string, unknown][]): [string, unknown][] {
  const taken = new Set<string>();
  return entries.map(([field, value]) => {
    let name = field;
    for (let number = 2; taken.has(name); number += 1) name = `${field} ${number}`;
    taken.add(name);
    return [name, value];
  });
}

function cleanValue(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (value === null || typeof value !== 'object') return value;
  if (!Array.isArray(value)) {
    return cleanFields(value, (_, each) => cleanValue(each, redact), redact);
  }
  const clean = value.map((each) => cleanValue(each, redact));
  return clean.some((each, index) => each !== value[index]) ? clean : value;
}
