/** Reads the JSON of a message field by field: its signer may have written anything into it. */
import { isAppName } from '@runner/common/foundation/names';
import { isObject, type JsonObject, jsonObject } from '@runner/common/text/json';
import { timeOfIso } from '@runner/common/text/time';

/** Returns the value of a field, or throws a FieldProblem that calls it `name`. */
export type FieldReader<T> = (value: unknown, name: string) => T;

/** What a reader returns. */
export type ValueOf<F> = F extends FieldReader<infer T> ? T : never;

type FieldReaders = Readonly<Record<string, FieldReader<unknown>>>;
type OptionalIn<F> = { [K in keyof F]: undefined extends ValueOf<F[K]> ? K : never }[keyof F];
/** The fields that not every version writes may be absent. */
type ObjectOf<F> = { readonly [K in Exclude<keyof F, OptionalIn<F>>]: ValueOf<F[K]> } & {
  readonly [K in OptionalIn<F>]?: ValueOf<F[K]>;
};

/** Why a field cannot be read: `apps[0].app is not an app name`. Contains no foreign text. */
class FieldProblem extends Error {}

/** What a message says, or why it cannot be read. */
export type ParsedMessage<T> = { readonly value: T } | { readonly problem: string };

/** Reads the JSON object in a text. Never throws. */
export function parsed<T>(text: string, field: FieldReader<T>): ParsedMessage<T> {
  const object = jsonObject(text);
  if (!object) return { problem: 'it is not a JSON object' };
  try {
    return { value: field(object, '') };
  } catch (error) {
    if (error instanceof FieldProblem) return { problem: error.message };
    throw error;
  }
}

/** The same for texts of which the problem does not matter: undefined if there is one. */
export function parsedValue<T>(text: string, field: FieldReader<T>): T | undefined {
  const read = parsed(text, field);
  return 'value' in read ? read.value : undefined;
}

function checked<T>(is: string, test: (value: unknown) => boolean): FieldReader<T> {
  return (value, name) => {
    if (test(value)) return value as T;
    throw new FieldProblem(`${name || 'it'} is not ${is}`);
  };
}

/** Text that matches; `is` says what it is. */
export const matching = (pattern: RegExp, is: string): FieldReader<string> =>
  checked(is, (value) => typeof value === 'string' && pattern.test(value));

/** Any text of up to `most` characters: print it only harmless. */
export const text = (most: number): FieldReader<string> =>
  checked(
    `text of up to ${most} characters`,
    (value) => typeof value === 'string' && value.length <= most,
  );

export const whole = (least: number, most: number = Number.MAX_SAFE_INTEGER): FieldReader<number> =>
  checked(
    `a whole number from ${least} to ${most}`,
    (value) =>
      Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
  );

export const oneOf = <T extends string>(...values: readonly T[]): FieldReader<T> =>
  checked(`one of ${values.join(', ')}`, (value) => values.includes(value as T));

export const flag: FieldReader<boolean> = checked(
  'true or false',
  (value) => value === true || value === false,
);

/** null as well. */
export const nullable =
  <T>(field: FieldReader<T>): FieldReader<T | null> =>
  (value, name) =>
    value === null ? null : field(value, name);

/** For fields that not every version writes. */
export const optional =
  <T>(field: FieldReader<T>): FieldReader<T | undefined> =>
  (value, name) =>
    value === undefined ? undefined : field(value, name);

export const list =
  <T>(field: FieldReader<T>, most: number): FieldReader<readonly T[]> =>
  (value, name) => {
    const items = checked<unknown[]>(
      `a list of up to ${most}`,
      (all) => Array.isArray(all) && all.length <= most,
    );
    return items(value, name).map((each, index) => field(each, `${name}[${index}]`));
  };

/** An object with these fields; others, which a newer version may write, are left out. */
export const object =
  <F extends FieldReaders>(fields: F): FieldReader<ObjectOf<F>> =>
  (value, name) => {
    const from = checked<JsonObject>('an object', isObject)(value, name);
    const prefix = name === '' ? '' : `${name}.`;
    const read = Object.entries(fields).map(([key, field]) => [
      key,
      field(Object.hasOwn(from, key) ? from[key] : undefined, `${prefix}${key}`),
    ]);
    return Object.fromEntries(read.filter(([, found]) => found !== undefined));
  };

export const appField: FieldReader<string> = checked(
  'an app name',
  (value) => typeof value === 'string' && isAppName(value),
);
/** As git allows a tag, or the start of a commit. */
export const versionField = matching(/^[^\x00-\x20\x7f]{1,255}$/, 'a version');
export const commitField = matching(/^[0-9a-f]{40}([0-9a-f]{24})?$/, 'a commit');
export const orderIdField = matching(/^r-[0-9a-f]{8}$/, 'the id of an order');
export const digestField = matching(/^[0-9a-f]{32}$/, 'a digest of 32 digits');
/** An error code, or the result of a decision. */
export const codeField = matching(/^[a-z][a-z0-9_]{0,63}$/, 'a code');
/** As `toISOString` writes it. A server's clock may be wrong, so any year will do. */
export const timeField: FieldReader<string> = checked(
  'a time in UTC',
  (value) =>
    typeof value === 'string' && /^\d{4}-.{18}Z$/.test(value) && !Number.isNaN(timeOfIso(value)),
);
/** Of a sentence; agents write up to 300 characters. */
export const sentence = text(4_096);
