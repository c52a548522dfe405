/** Values of a record that cannot hold a secret. */

/** The fields of every record, and which of their values are ordinary. */
export const ORDINARY: ReadonlyMap<string, RegExp> = new Map([
  ['timestamp', /^\d{4}-\d\d-\d\dT[\d:.]{5,18}(?:Z|[+-]\d\d:?\d\d)$/],
  ['event_type', /^[A-Za-z]{1,20}$/],
  ['event', /^[A-Za-z]{1,20}$/],
  // The app's name selects the token to look for.
  ['project', /^/],
  ['app', /^/],
  ['instance', /^default$/],
  ['version', /^v?\d{1,4}(?:\.\d{1,5}){0,3}$/],
  ['deploy_id', /^[\w-]{8}$/],
  ['commit', /^[0-9a-f]{7,64}$/],
  ['trigger', /^[a-z]{1,20}$/],
  ['tree', /^[0-9a-f]{64}$/],
  ['statement', /^[0-9a-f]{64}$/],
  ['prev', /^[0-9a-f]{32}$/],
  ['place', /^#\d{1,16}·[0-9a-f]{32}$/],
]);

/** Shortest secret that is redacted; a shorter one would occur in ordinary text. */
export const SECRET_MIN = 6;

export function isOrdinary(field: string, value: unknown): boolean {
  return typeof value === 'string' && ORDINARY.get(field)?.test(value) === true;
}

/** Whether no value of the record needs redaction, so that nothing has to be loaded for it. */
export function isPlain(record: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(record).every(
    ([field, value]) =>
      isOrdinary(field, value) ||
      typeof value === 'number' ||
      (typeof value === 'string' && value.length < SECRET_MIN),
  );
}
