/** What `runner setup` has made for an app, as `/etc/runner/setup/<app>.json` records it. */
import { join } from 'node:path';
import { hashOf } from '@runner/common/audit/chain';
import { namesIn, readIfThere, readTextIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import { isAppName } from '@runner/common/foundation/names';
import { jsonObject } from '@runner/common/text/json';
import { word } from '@runner/common/text/shell';

/** Limit of files that setup makes or compares, in bytes. */
export const SETUP_FILE_MAX = 1_048_576;

/** One thing that setup has made, or was making when it was killed. */
export interface MadeThing {
  /** Unique: its kind and its name or path. */
  readonly id: string;
  readonly kind: string;
  /** `making`: the last run was killed before it was done. */
  state: 'making' | 'made';
  /** What it was made from, for its undoing. */
  readonly fields: Readonly<Record<string, string>>;
  /** Of a file: SHA-256 of the contents that setup wrote, the newest first. */
  hashes?: string[];
  /** Of a file that was there before: its copy. */
  backup?: string;
  /** Of a line: what was appended to its file, and whether setup made that. */
  added?: string;
  isNew?: boolean;
  /** Of a file: folders that were made for it, the outermost first. */
  folders?: string[];
}

/** The choices of the operator that a later run repeats. */
export type SetupChoices = Partial<
  Record<'run' | 'user' | 'proxy' | 'cert' | 'key' | 'public', string>
>;

export interface SetupRecord {
  version: 1;
  app: string;
  choices: SetupChoices;
  made: MadeThing[];
}

/** `/etc`; tests have another one, in RUNNER_ETC. */
export const etcOf = ({ RUNNER_ETC: etc }: Env): string => etc || '/etc';

export const setupFolder = (env: Env): string => join(etcOf(env), 'runner/setup');

export const recordPath = (env: Env, app: string): string => join(setupFolder(env), `${app}.json`);

/** undefined if setup made nothing for the app. Throws `state_malformed`, `file_unreadable`. */
export function readRecord(env: Env, app: string): SetupRecord | undefined {
  const path = recordPath(env, app);
  const text = readTextIfThere(path, SETUP_FILE_MAX);
  if (text === undefined) return undefined;
  const record = jsonObject(text);
  if (record?.version === 1 && Array.isArray(record.made)) return record as unknown as SetupRecord;
  throw new Failure('state_malformed', `${path} is not a record of runner setup of this version`);
}

/** The records of other apps, for what several share. */
export function otherRecords(env: Env, app: string): SetupRecord[] {
  return namesIn(setupFolder(env))
    .filter((name) => name.endsWith('.json') && name !== `${app}.json`)
    .map((name) => name.slice(0, -'.json'.length))
    .flatMap((name) => (isAppName(name) ? (readRecord(env, name) ?? []) : []));
}

/** The apps for which setup made something that concerns a root; what cannot be read is left out. */
export function setupApps(env: Env, root: string): string[] {
  const isIn = ({ fields: { path = '' } }: MadeThing) => `${path}/`.startsWith(`${root}/`);
  const records = orElse(() => otherRecords(env, ''), []);
  return records.filter(({ made }) => made.some(isIn)).map(({ app }) => app);
}

/**
 * That something which setup made is missing, or else was changed: one sentence for all, and its fix. What this
 * user may not read is left out.
 */
export function setupDrift(env: Env, app: string) {
  const record = orElse(() => readRecord(env, app), undefined);
  const what = (record?.made ?? []).flatMap(
    (thing) => orElse(() => driftOf(thing), undefined) ?? [],
  );
  if (what.length === 0) return [];
  const others = what.length > 1 ? ` (and ${what.length - 1} more)` : '';
  const isMissing = what.some((each) => each.isMissing);
  const [first] = what.filter((each) => each.isMissing === isMissing);
  const words = `${first?.words}, which runner setup made for ${app}${others}`;
  return [{ words, fix: `sudo runner setup ${word(app)}`, isMissing }];
}

function driftOf({ kind, fields, hashes = [] }: MadeThing) {
  const { path, line, to } = fields;
  if (path === undefined || to !== undefined || (kind !== 'file' && kind !== 'line'))
    return undefined;
  const bytes = readIfThere(path, SETUP_FILE_MAX);
  const missing = (words: string) => ({ words, isMissing: true });
  if (kind === 'line') {
    const isListed = bytes
      ?.toString('utf8')
      .split('\n')
      .includes(line ?? '');
    return isListed ? undefined : missing(`${path} lacks the line ${line}`);
  }
  if (bytes === undefined) return missing(`${path} is missing`);
  if (hashes.includes(hashOf(bytes))) return undefined;
  return { words: `${path} differs from the file`, isMissing: false };
}
