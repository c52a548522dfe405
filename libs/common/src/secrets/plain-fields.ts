/** Values of a record that are no secret, told without knowing any. */

/** Fields whose ordinary values are no secrets: they stand in every record. */
export const ORDINARY: ReadonlyMap<string, RegExp> = new Map([
  ['timestamp', /^\d{4}-\d\d-\d\dT[\d:.]{5,18}(?:Z|[+-]\d\d:?\d\d)$/],
  ['event_type', /^[A-Za-z]{1,20}$/],
  ['event', /^[A-Za-z]{1,20}$/],
  // Names of apps decide which token is known.
  ['project', /^/],
  ['app', /^/],
  ['instance', /^default$/],
  ['version', /^v?\d{1,4}(?:\.\d{1,5}){0,3}$/],
  ['deploy_id', /^[\w-]{8}$/],
  ['commit', /^[0-9a-f]{7,64}$/],
  ['trigger', /^[a-z]{1,20}$/],
]);

/** Shortest known value that is searched for: a shorter one would blacken ordinary text. */
export const SECRET_MIN = 6;

/** Whether the field's value is ordinary. */
export function isOrdinary(field: string, value: unknown): boolean {
  return typeof value === 'string' && ORDINARY.get(field)?.test(value) === true;
}

/** Whether no value of the record could be redacted: then nothing that redacts has to be loaded. */
export function isPlain(record: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(record).every(
    ([field, value]) =>
      isOrdinary(field, value) ||
      typeof value === 'number' ||
      (typeof value === 'string' && value.length < SECRET_MIN),
  );
}
