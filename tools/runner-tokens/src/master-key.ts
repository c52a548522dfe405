/** Replaces the master key: adds a new one, re-encrypts every token and secret, and removes the old one last. */

import { resealSecrets } from '@runner/common/app-secrets/change';
import { openDatabaseKey } from '@runner/common/app-secrets/database-key';
import { sealedIn } from '@runner/common/app-secrets/file';
import { openSecrets } from '@runner/common/app-secrets/open';
import { changeRegistry } from '@runner/common/apps/change';
import { allNames, findApp, type UnreadableApp, writeApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';
import { mayHoldSealed } from '@runner/common/tokens/borrow';
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
  /** ID of the current key; null for a dry run. */
  key: string | null;
  /** Tokens that were (or would be) re-encrypted. */
  sealed: number;
  /** Secrets of apps that were (or would be) re-encrypted. */
  secrets: number;
  old_keys_dropped: number;
  /** Apps whose token, secrets or state cannot be opened. */
  failed: string[];
  /** This run finished an interrupted one, and created no new key. */
  resumed: boolean;
  dry_run: boolean;
}

type RekeyContext = Pick<Context, 'io' | 'paths' | 'note'>;

/** Progress is reported after this many apps. */
const REPORT_EVERY = 100;
/** Apps per lock: locking is slower than re-encrypting, but other commands must get their turn. */
const PER_LOCK = 20;

/** Throws `mkey_missing`, `not_writable`. Returns whether an earlier run was interrupted. */
function checkKeys({ io, paths }: RekeyContext): boolean {
  if (!readKeyring(paths, io.env) && !mayHoldSealed(paths))
    throw new Failure(
      'mkey_missing',
      'there is no master key yet: storing the first token creates it',
    );
  const { length } = requireKeyring(paths, io.env);
  requireChangeableKeys(paths, io.env);
  return length > 1;
}

/** Throws `mkey_missing`, `not_writable`, `locked`. */
export function rekeyAll(context: RekeyContext): Rekeyed {
  const { io, paths, note } = context;
  const underLock = <T>(body: () => T): T =>
    changeRegistry({ io, paths, command: 'tokens rekey' }, body);
  checkKeys(context);
  // More than one key: an earlier run was interrupted, or another one is running.
  const resumed = underLock(() => {
    if (requireKeyring(paths, io.env).length > 1) return true;
    addMasterKey(paths, io.env);
    return false;
  });
  if (resumed) note('an earlier rekey was interrupted: continuing it with its key');
  const names = allNames(paths);
  const sealed: Count = { tokens: 0, secrets: 0 };
  for (let done = 0; done < names.length; done += PER_LOCK) {
    if (done > 0 && done % REPORT_EVERY === 0) note(`${done} of ${names.length} apps`);
    const some = names.slice(done, done + PER_LOCK);
    add(
      sealed,
      underLock(() => sealAgain(context, some)),
    );
  }
  // Under one lock: no other command can use the old key between this look and its removal.
  return underLock(() => {
    const last = sealAgain(context, allNames(paths));
    add(sealed, last);
    return {
      key: requireKeyring(paths, io.env)[0].kid,
      sealed: sealed.tokens,
      secrets: sealed.secrets,
      old_keys_dropped: last.failed.length === 0 ? dropOldKeys(paths, io.env) : 0,
      failed: namesOf(last.failed, note),
      resumed,
      dry_run: false,
    };
  });
}

/** Changes nothing. Throws as `rekeyAll`. */
export function tryRekey(context: RekeyContext): Rekeyed {
  const { paths, io, note } = context;
  const resumed = checkKeys(context);
  const [{ kid }] = requireKeyring(paths, io.env);
  const isOld = (sealed: string) => !resumed || keyIdOf(sealed) !== kid;
  const { tokens, secrets, failed } = eachApp(allNames(paths), (name) => {
    if (findApp(paths, name) === undefined) return { tokens: 0, secrets: 0 };
    const { file } = openSecrets(paths, io.env, name);
    openDatabaseKey({ io, paths }, name);
    openToken(paths, io.env, name);
    const token = findApp(paths, name)?.state.repohost_token;
    const secrets = file ? sealedIn(file).filter(isOld) : [];
    return { tokens: Number(Boolean(token && isOld(token))), secrets: secrets.length };
  });
  const names = namesOf(failed, note);
  const counts = { sealed: tokens, secrets, old_keys_dropped: 0 };
  return { key: null, ...counts, failed: names, resumed, dry_run: true };
}

/** Names of the apps; each failure is reported. */
function namesOf(failed: readonly UnreadableApp[], note: RekeyContext['note']): string[] {
  for (const { app, failure } of failed) note(`${app}: ${failure.message} (${failure.code})`);
  return failed.map(({ app }) => app);
}

interface Count {
  tokens: number;
  secrets: number;
}

interface Pass extends Count {
  failed: UnreadableApp[];
}

function add(sum: Count, { tokens, secrets }: Count): void {
  sum.tokens += tokens;
  sum.secrets += secrets;
}

/**
 * Encrypts the tokens and secrets of these apps with the current key; call it under the lock. The keys are read
 * each time: another rekey may have changed them.
 */
function sealAgain({ paths, io }: RekeyContext, names: readonly string[]): Pass {
  const keyring = requireKeyring(paths, io.env);
  return eachApp(names, (name) => {
    const secrets = resealSecrets({ paths, io }, name);
    const app = findApp(paths, name);
    const value = app?.state.repohost_token;
    if (!app || !value) return { tokens: 0, secrets };
    const token = open(value, name, keyring);
    if (keyIdOf(value) === keyring[0].kid) return { tokens: 0, secrets };
    const state = {
      ...app.state,
      repohost_token: seal(token, name, keyring, { twoLayers: hasTwoLayers(value) }),
    };
    writeApp(paths, { ...app, state, updated_at: io.now().toISOString() });
    return { tokens: 1, secrets };
  });
}

/** An app that cannot be opened does not stop the others; an error that affects all apps is thrown. */
function eachApp(names: readonly string[], body: (name: string) => Count): Pass {
  const pass: Pass = { tokens: 0, secrets: 0, failed: [] };
  for (const app of names) {
    try {
      add(pass, body(app));
    } catch (error) {
      const affectsAll = ['disk_full', 'not_writable', 'mkey_missing', 'mkey_exposed'];
      if (!(error instanceof Failure) || affectsAll.includes(error.code)) throw error;
      pass.failed.push({ app, failure: error });
    }
  }
  return pass;
}
