/** What a key of a file may hold; `description` is that of the manual page. */
import type { ObjectSchema, Schema, TextSchema } from './schema.ts';

/** Any text. */
export const text = (description: string) => ({ type: 'string', description }) as const;

/** A text that matches; `wanted` follows "must be". */
export const matching = (pattern: string, wanted: string, description?: string) =>
  ({ type: 'string', pattern, wanted, ...about(description) }) as const satisfies Schema;

/** The same, which may also be a number in a range. */
export const numeric = (
  pattern: string,
  wanted: string,
  numbers: readonly [least: number, largest: number],
  description?: string,
): TextSchema => ({
  ...matching(pattern, wanted, description),
  type: ['string', 'integer'],
  numbers,
});

/** One of some words. */
export const choice = (words: readonly string[], description?: string): TextSchema => ({
  type: 'string',
  enum: words,
  ...about(description),
});

/** true or false. */
export const flag = (description: string): Schema => ({ type: 'boolean', description });

/** A whole number in a range. */
export const whole = (minimum: number, maximum: number, description?: string): Schema => ({
  type: 'integer',
  minimum,
  maximum,
  ...about(description),
});

/** A list. */
export const list = (items: Schema, description?: string, minItems?: number): Schema => ({
  type: 'array',
  items,
  ...(minItems !== undefined && { minItems }),
  ...about(description),
});

/** A value, or a list of such. */
export const oneOrMore = (each: Schema, description: string): Schema => ({
  anyOf: [each, list(each)],
  description,
});

/** A section with these keys and no others. */
export const keys = (
  properties: Readonly<Record<string, Schema>>,
  description?: string,
  required?: readonly string[],
): ObjectSchema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(required && { required }),
  ...about(description),
});

/** A section with these keys, among others. */
export const openKeys = (
  properties: Readonly<Record<string, Schema>>,
  description?: string,
): ObjectSchema => ({ ...keys(properties, description), additionalProperties: true });

/** A section whose keys are names. */
export const named = (
  each: Schema,
  description?: string,
  propertyPattern?: string,
): ObjectSchema => ({
  type: 'object',
  additionalProperties: each,
  ...(propertyPattern !== undefined && { propertyPattern }),
  ...about(description),
});

const about = (description: string | undefined) => description !== undefined && { description };

/** A length of time. */
export const duration = (description: string): TextSchema => ({
  ...numeric(
    '^(?!0+(?:ms|s|m|h)?$)[0-9]{1,9}(?:ms|s|m|h)?$',
    'a time like 500ms, 30s, 5m or 1h',
    [1, 999_999_999],
    description,
  ),
  refused: [
    ['^0+(?:ms|s|m|h)?$', 'must be longer than 0'],
    ['^[0-9]{10,}(?:ms|s|m|h)?$', 'is too long: the maximum is 24 days'],
  ],
});
