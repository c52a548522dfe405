/** Replacing the master key: new key first, every app sealed anew, the old key dropped last. */
import { appNames, findApp, writeApp } from '@runner/common/apps';
import type { Context } from '@runner/common/command';
import { Failure } from '@runner/common/failure';
import { changeRegistry } from '@runner/common/registry';
import {
  addMasterKey,
  dropOldKeys,
  hasTwoLayers,
  type Keyring,
  keyIdOf,
  open,
  requireKeyring,
  seal,
} from '@runner/common/vault';

/** What `rekey` prints. */
export interface Rekeyed {
  /** Id of the key that is current now; null for a dry run. */
  key: string | null;
  /** Tokens that were (or would be) sealed anew. */
  sealed: number;
  old_keys_dropped: number;
  /** Apps whose token or state cannot be opened. */
  failed: string[];
  /** An earlier run that was ended early was finished, no further key was made. */
  resumed: boolean;
  dry_run: boolean;
}

type RekeyContext = Pick<Context, 'io' | 'paths' | 'note'>;

/** How often progress is told, in apps. */
const TELL_EVERY = 500;

/** Throws `mkey_missing`, `not_writable`, `locked`. */
export function rekeyAll(context: RekeyContext, dryRun: boolean): Rekeyed {
  const { io, paths, note } = context;
  const before = requireKeyring(paths, io.env);
  if (dryRun) return tryAll(context, before);
  // More than one key: an earlier run has not finished.
  const resumed = before.length > 1;
  const keyring = resumed
    ? before
    : changeRegistry(paths, io, 'rekey', () => addMasterKey(paths, io.env));
  if (resumed) note('an earlier rekey was ended before it was done: finishing it');
  const names = appNames(paths);
  let sealed = 0;
  names.forEach((name, index) => {
    if (attempt(context, name, () => sealAnew(context, name, keyring))) sealed += 1;
    if ((index + 1) % TELL_EVERY === 0) note(`${index + 1} of ${names.length} apps`);
  });
  // Under one lock: nobody seals with the old key between the last look and the drop.
  return changeRegistry(paths, io, 'rekey', () => {
    const failed: string[] = [];
    for (const name of appNames(paths)) {
      const done = attempt(context, name, () => sealAnewLocked(context, name, keyring), failed);
      if (done) sealed += 1;
    }
    const dropped = failed.length === 0 ? dropOldKeys(paths, io.env) : 0;
    return {
      key: keyring[0].kid,
      sealed,
      old_keys_dropped: dropped,
      failed,
      resumed,
      dry_run: false,
    };
  });
}

function sealAnew(context: RekeyContext, name: string, keyring: Keyring): boolean {
  return changeRegistry(context.paths, context.io, 'rekey', () =>
    sealAnewLocked(context, name, keyring),
  );
}

/** Seals one app's token with the current key; false when there is nothing to do. */
function sealAnewLocked({ paths, io }: RekeyContext, name: string, keyring: Keyring): boolean {
  const app = findApp(paths, name);
  const value = app?.state.repohost_token;
  if (!app || !value || keyIdOf(value) === keyring[0].kid) return false;
  const token = open(value, name, keyring);
  const state = { ...app.state, repohost_token: seal(token, name, keyring, hasTwoLayers(value)) };
  writeApp(paths, { ...app, state, updated_at: io.now().toISOString() });
  return true;
}

/** Runs it for one app; what fails is told once, in the last pass, and hides no other app. */
function attempt(
  { note }: RekeyContext,
  name: string,
  body: () => boolean,
  failed?: string[],
): boolean {
  try {
    return body();
  } catch (error) {
    if (
      !(error instanceof Failure) ||
      error.status !== 1 ||
      error.code === 'disk_full' ||
      error.code === 'not_writable'
    )
      throw error;
    if (failed) {
      failed.push(name);
      note(`${name}: ${error.message} (${error.code})`);
    }
    return false;
  }
}

function tryAll(context: RekeyContext, keyring: Keyring): Rekeyed {
  const failed: string[] = [];
  let sealed = 0;
  for (const name of appNames(context.paths)) {
    const opens = () => {
      const value = findApp(context.paths, name)?.state.repohost_token;
      if (!value) return false;
      open(value, name, keyring);
      return true;
    };
    if (attempt(context, name, opens, failed)) sealed += 1;
  }
  return {
    key: null,
    sealed,
    old_keys_dropped: 0,
    failed,
    resumed: keyring.length > 1,
    dry_run: true,
  };
}
