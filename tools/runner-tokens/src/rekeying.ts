/** Replacing the master key: new key first, every app sealed anew, the old key dropped last. */

import { changeRegistry } from '@runner/common/apps/change';
import { appNames, findApp, writeApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';
import { mayHoldTokens } from '@runner/common/tokens/borrow';
import {
  addMasterKey,
  dropOldKeys,
  readKeyring,
  requireChangeableKeys,
  requireKeyring,
} from '@runner/common/tokens/keyring';
import { openToken } from '@runner/common/tokens/open';
import { hasTwoLayers, keyIdOf, open, seal } from '@runner/common/tokens/vault';

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
const TELL_EVERY = 100;
/** Apps sealed under one lock: a lock costs more than an app, and others must get their turn. */
const AT_ONCE = 20;

/** Throws `mkey_missing`, `not_writable`, `locked`. */
export function rekeyAll(context: RekeyContext, dryRun: boolean): Rekeyed {
  const { io, paths, note } = context;
  const underLock = <T>(body: () => T): T => changeRegistry(paths, io, 'rekey', body);
  if (!readKeyring(paths, io.env) && !mayHoldTokens(paths)) {
    throw new Failure(
      'mkey_missing',
      'there is no master key yet: the first token that is stored makes it',
    );
  }
  const { length } = requireKeyring(paths, io.env);
  requireChangeableKeys(paths, io.env);
  if (dryRun) return tryAll(context, length > 1);
  // More than one key: an earlier run has not finished, or another is under way.
  const resumed = underLock(() => {
    if (requireKeyring(paths, io.env).length > 1) return true;
    addMasterKey(paths, io.env);
    return false;
  });
  if (resumed) note('an earlier rekey has not finished: going on with it, no further key is made');
  const names = appNames(paths);
  let sealed = 0;
  for (let done = 0; done < names.length; done += AT_ONCE) {
    if (done > 0 && done % TELL_EVERY === 0) note(`${done} of ${names.length} apps`);
    sealed += underLock(() => sealAnew(context, names.slice(done, done + AT_ONCE)).sealed);
  }
  // Under one lock: nobody seals with the old key between the last look and the drop.
  return underLock(() => {
    const last = sealAnew(context, appNames(paths));
    for (const { app, failure } of last.failed)
      note(`${app}: ${failure.message} (${failure.code})`);
    return {
      key: requireKeyring(paths, io.env)[0].kid,
      sealed: sealed + last.sealed,
      old_keys_dropped: last.failed.length === 0 ? dropOldKeys(paths, io.env) : 0,
      failed: last.failed.map(({ app }) => app),
      resumed,
      dry_run: false,
    };
  });
}

interface Pass {
  sealed: number;
  failed: { app: string; failure: Failure }[];
}

/**
 * Seals the tokens of these apps with the key that is current now; call it under the lock. The keys
 * are read each time: another rekey may have changed them since.
 */
function sealAnew({ paths, io }: RekeyContext, names: readonly string[]): Pass {
  const keyring = requireKeyring(paths, io.env);
  return eachApp(names, (name) => {
    const app = findApp(paths, name);
    const value = app?.state.repohost_token;
    if (!app || !value) return false;
    const token = open(value, name, keyring);
    if (keyIdOf(value) === keyring[0].kid) return false;
    const state = { ...app.state, repohost_token: seal(token, name, keyring, hasTwoLayers(value)) };
    writeApp(paths, { ...app, state, updated_at: io.now().toISOString() });
    return true;
  });
}

function tryAll({ paths, io, note }: RekeyContext, resumed: boolean): Rekeyed {
  const { sealed, failed } = eachApp(
    appNames(paths),
    (name) => findApp(paths, name) !== undefined && openToken(paths, io.env, name) !== undefined,
  );
  for (const { app, failure } of failed) note(`${app}: ${failure.message} (${failure.code})`);
  return {
    key: null,
    sealed,
    old_keys_dropped: 0,
    failed: failed.map(({ app }) => app),
    resumed,
    dry_run: true,
  };
}

/** An app that cannot be opened hides no other; what stops all of them is thrown. */
function eachApp(names: readonly string[], body: (name: string) => boolean): Pass {
  const pass: Pass = { sealed: 0, failed: [] };
  for (const app of names) {
    try {
      if (body(app)) pass.sealed += 1;
    } catch (error) {
      const stopsAll = ['disk_full', 'not_writable', 'mkey_missing', 'mkey_exposed'];
      if (!(error instanceof Failure) || stopsAll.includes(error.code)) throw error;
      pass.failed.push({ app, failure: error });
    }
  }
  return pass;
}
