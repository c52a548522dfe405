/** The kinds of values in `.deploy.yml`. */
import type { Schema } from '../yaml/schema.ts';

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
