/** The kinds of values in `.deploy.yml`. */
import type { Schema } from '../yaml/schema.ts';

const DURATION = '^(?!0+(?:ms|s|m|h)?$)[0-9]{1,9}(?:ms|s|m|h)?$';

/** A length of time. */
export const duration = (description: string): Schema => ({
  type: ['string', 'integer'],
  pattern: DURATION,
  refused: [
    ['^0+(?:ms|s|m|h)?$', 'must be longer than 0'],
    ['^[0-9]{10,}(?:ms|s|m|h)?$', 'is too long: the maximum is 24 days'],
  ],
  wanted: 'a time like 500ms, 30s, 5m or 1h',
  numbers: [1, 999_999_999],
  description,
});

/** A command. */
export const line = (description?: string): Schema => ({
  type: 'string',
  minLength: 1,
  wanted: 'a command',
  ...(description !== undefined && { description }),
});

/** A file of the release: not an option, not outside. */
export const inRelease = (description: string): Schema => ({
  type: 'string',
  pattern: '^(?!-)(?!/)(?!.*(?:^|/)\\.\\.(?:/|$)).{1,200}$',
  wanted: 'a file of the repository',
  description,
});

/** A command, or several. */
export const commands = (description?: string): Schema => ({
  anyOf: [line(), { type: 'array', items: line() }],
  ...(description !== undefined && { description }),
});

/** Ports of an instance. */
export const ports = (description: string): Schema => ({
  type: 'array',
  items: { type: 'integer', minimum: 1, maximum: 65_535 },
  description,
});
