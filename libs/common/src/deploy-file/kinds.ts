/** The kinds of values in `.deploy.yml`. */
import { list, matching, oneOrMore, whole } from '../yaml/keys.ts';
import type { TextSchema } from '../yaml/schema.ts';

/** A command. */
export const line = (description?: string): TextSchema => ({
  type: 'string',
  minLength: 1,
  wanted: 'a command',
  ...(description !== undefined && { description }),
});

/** A file of the release: not an option, not outside. */
export const inRelease = (description: string) =>
  matching(
    '^(?!-)(?!/)(?!.*(?:^|/)\\.\\.(?:/|$)).{1,200}$',
    'a file of the repository',
    description,
  );

/** A command, or several. */
export const commands = (description: string) => oneOrMore(line(), description);

/** The address of a server. */
export const webAddress = (description: string) =>
  matching('^https?://', 'an http or https address', description);

/** Ports of an instance. */
export const ports = (description: string) => list(whole(1, 65_535), description);
