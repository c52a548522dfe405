/** Reads config.yml; settings.ts interprets it. */
import { readTrusted } from '../files/trusted.ts';
import type { Paths } from '../foundation/paths.ts';
import { readYaml, YAML_MAX } from '../yaml/read.ts';
import type { FileName, Tree } from '../yaml/schema.ts';

/** config.yml, checked only for its syntax. */
export interface Config {
  readonly file: FileName;
  readonly tree: Tree | undefined;
}

/** The last one: an operation asks for it many times, and a fetch for each app. */
let known: { readonly bytes: Uint8Array; readonly config: Config } | undefined;

/**
 * Reads config.yml; a missing file is an empty one. Throws `config_invalid`, `file_unreadable` or
 * `guard_tripped`.
 */
export function readConfig(paths: Paths): Config {
  const file: FileName = { name: paths.config, code: 'config_invalid' };
  const bytes = readTrusted(paths.config, YAML_MAX, paths.root);
  if (!bytes) return { file, tree: undefined };
  const isKnown = known?.config.file.name === file.name && bytes.equals(known.bytes);
  if (!known || !isKnown) known = { bytes, config: { file, tree: readYaml(bytes, file) } };
  return known.config;
}
