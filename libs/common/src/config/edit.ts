/** Changes config.yml under the registry's lock; comments and order stay. */
import { accessSync, chmodSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Document, isMap, isScalar, parseDocument } from 'yaml';
import { holderFor, requireLock } from '../files/lock.ts';
import { isThere, makeFolder, readTextIfThere } from '../files/read.ts';
import { sweepStrays, writeWhole } from '../files/write.ts';
import { orFail } from '../foundation/attempt.ts';
import { Failure } from '../foundation/failure.ts';
import type { Io } from '../foundation/io.ts';
import type { Paths } from '../foundation/paths.ts';
import { readYaml, YAML_MAX } from '../yaml/read.ts';
import { type FileName, problem } from '../yaml/schema.ts';
import type { Config } from './file.ts';
import { CREDENTIALS } from './schema.ts';
import { notifySettingsOf } from './settings.ts';

/** A key, e.g. `['notify', 'channel']`, and its new value; undefined removes it. */
export interface ConfigChange {
  readonly path: readonly string[];
  readonly value: string | number | boolean | readonly string[] | undefined;
}

/** Longest wait for another command's change, in seconds. */
const EDIT_WAIT = 20;

/** Throws `not_writable` unless config.yml can be changed; call it before prompting for anything. */
export function requireWritable(paths: Paths): void {
  let folder = dirname(paths.config);
  while (!isThere(folder) && dirname(folder) !== folder) folder = dirname(folder);
  orFail(() => accessSync(folder, constants.W_OK | constants.X_OK), `write ${paths.config}`);
  if (!statSync(folder).isDirectory())
    throw new Failure('not_writable', `${folder} is not a directory`);
}

export interface ConfigEdit {
  readonly io: Pick<Io, 'now' | 'pid' | 'uid'>;
  readonly paths: Paths;
  readonly command: string;
  /** Comment lines with which a new file begins. */
  readonly head?: string;
}

/**
 * Changes keys of config.yml and writes it atomically with mode 0600, or not at all if nothing
 * changes. Unknown keys stay; a credential of `notify` stays at the top level in the earlier layout.
 * Throws `config_invalid`, `file_unreadable`, `locked`,
 * `not_writable` or `disk_full` and then leaves the file untouched.
 */
export function editConfig(
  { io, paths, command, head = '' }: ConfigEdit,
  changes: readonly ConfigChange[],
): void {
  const holder = holderFor(io, command);
  using _lock = requireLock(paths.registryLock, 'the registry', EDIT_WAIT, holder);
  const file: FileName = { name: paths.config, code: 'config_invalid' };
  const before = readTextIfThere(paths.config, YAML_MAX) ?? head;
  const after = editedYaml(before, changes, file);
  if (after === before) return;
  // What is written must be valid.
  notifySettingsOf({ file, tree: readYaml(Buffer.from(after), file) }, {});
  makeFolder(dirname(paths.config));
  sweepStrays(dirname(paths.config), io.now());
  if (isThere(paths.config)) chmodSync(paths.config, 0o600);
  writeWhole(paths.config, after);
}

/** config.yml as it would be after these changes. Throws `config_invalid` or `file_unreadable`. */
export function changedConfig(paths: Paths, changes: readonly ConfigChange[]): Config {
  const file: FileName = { name: paths.config, code: 'config_invalid' };
  const text = editedYaml(readTextIfThere(paths.config, YAML_MAX) ?? '', changes, file);
  return { file, tree: readYaml(Buffer.from(text), file) };
}

/** The text of a file after some changes. */
function editedYaml(text: string, changes: readonly ConfigChange[], file: FileName): string {
  // Refuses aliases and anything the parser must not see.
  readYaml(Buffer.from(text), file);
  // Keeps the digits of big integers.
  const options = { intAsBigInt: true, uniqueKeys: false, stringKeys: true } as const;
  const document: Document = parseDocument(text, options);
  const top = document.contents;
  if (top !== null && !isMap(top) && !(isScalar(top) && top.value === null)) {
    throw problem(file, 1, '', 'must be a section, not a single value or a list');
  }
  const style = {
    lineWidth: 0,
    indent: indentOf(text),
    flowCollectionPadding: /[[{] /.test(text),
  };
  const before = isMap(top) ? document.toString(style) : undefined;
  if (!isMap(top)) document.contents = document.createNode({});
  for (const { path, value } of changes.flatMap((change) => placed(document, change))) {
    if (value === undefined) {
      if (document.hasIn(path)) document.deleteIn(path);
      continue;
    }
    for (let depth = 1; depth < path.length; depth += 1) {
      const above = path.slice(0, depth);
      const node = document.getIn(above, true);
      if (node === undefined || (isScalar(node) && node.value === null)) {
        document.setIn(above, document.createNode({}));
      } else if (!isMap(node)) {
        throw problem(file, 1, above.join('.'), 'must be a section');
      }
    }
    document.setIn(path, typeof value === 'object' ? document.createNode(value) : value);
  }
  const after = document.toString(style);
  // Keeps the file's own spacing if nothing else changes.
  return after === before ? text : after;
}

/** Where a change takes effect. */
function placed(document: Document, change: ConfigChange): ConfigChange[] {
  const { path, value } = change;
  const [section, key = ''] = path;
  if (section !== 'notify' || path.length !== 2 || !CREDENTIALS.some((name) => name === key)) {
    return [change];
  }
  const top = { path: [key], value };
  if (value === undefined) return [change, top];
  if (document.hasIn(path)) return [change];
  const earlier = CREDENTIALS.some((name) => document.hasIn([name]));
  const today = CREDENTIALS.some((name) => document.hasIn(['notify', name]));
  return earlier && !today ? [top] : [change];
}

/** The file's indentation; 2 by default. */
function indentOf(text: string): number {
  const lines = text.split('\n').filter((line) => /^ *[^\s#-]/.test(line));
  const inner = lines.find((line, index) => index > 0 && /^ {1,8}[^ ]/.test(line));
  return inner === undefined ? 2 : inner.search(/[^ ]/);
}
