/** A record with all its texts redacted. */
import { isOrdinary, ORDINARY } from '../secrets/plain-fields.ts';
import type { JsonObject } from '../text/json.ts';
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
  fields: JsonObject,
  clean: (field: string, value: unknown) => unknown,
  redact: Redact,
): object {
  const names = Object.keys(fields);
  const values = names.map((field) => clean(field, fields[field]));
  const cleanNames = names.map((field) =>
    NAMES.has(field) || ORDINARY.has(field) ? field : redact(field),
  );
  const isSame = (field: string, index: number) =>
    cleanNames[index] === field && values[index] === fields[field];
  if (names.every(isSame)) return fields;
  const taken = new Set<string>();
  const entries = cleanNames.map((field, index) => {
    let name = field;
    // Names that have become equal are numbered.
    for (let number = 2; taken.has(name); number += 1) name = `${field} ${number}`;
    taken.add(name);
    return [name, values[index]];
  });
  return Object.fromEntries(entries);
}

function cleanValue(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (value === null || typeof value !== 'object') return value;
  if (!Array.isArray(value)) {
    return cleanFields(value as JsonObject, (_, each) => cleanValue(each, redact), redact);
  }
  const clean = value.map((each) => cleanValue(each, redact));
  return clean.some((each, index) => each !== value[index]) ? clean : value;
}
