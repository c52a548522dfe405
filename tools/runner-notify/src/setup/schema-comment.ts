/** The line with which an editor finds the JSON Schema of config.yml. */
import { dirname, join } from 'node:path';
import { isThere } from '@runner/common/files/read';

const SCHEMA = 'runner/schemas/config.schema.json';

/**
 * The first line of a new config.yml: the path of the schema beside the executables' folder, else of
 * the one that a package installed. Empty without either.
 */
export function schemaComment(program: string): string {
  const places = [join(dirname(dirname(program)), 'share', SCHEMA), `/usr/share/${SCHEMA}`];
  // A space would end the path.
  const path = places.find((place) => isThere(place) && !/\s/.test(place));
  return path === undefined ? '' : `# yaml-language-server: $schema=${path}\n`;
}
