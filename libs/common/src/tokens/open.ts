/** Opens the token of a registered app. */
import { requireTrustedApp } from '../apps/store.ts';
import { Failure } from '../foundation/failure.ts';
import type { Env } from '../foundation/io.ts';
import type { Paths } from '../foundation/paths.ts';
import type { Secret } from '../secrets/secret.ts';
import { requireKeyring } from './keyring.ts';
import { open } from './vault.ts';

/**
 * Opens an app's token, of a preview that of its app; undefined without one. If `tokens rekey` replaced state and keys between the
 * two reads, both are read again. Throws what `open` throws.
 */
export function openToken(paths: Paths, env: Env, name: string): Secret | undefined {
  for (let sealedBefore: string | undefined; ; ) {
    const { app, state, preview } = requireTrustedApp(paths, name);
    if (preview) return openToken(paths, env, preview.of);
    const sealed = state.repohost_token;
    if (!sealed) return undefined;
    try {
      return open(sealed, app, requireKeyring(paths, env));
    } catch (error) {
      const replaced =
        error instanceof Failure && error.code === 'mkey_unknown' && sealed !== sealedBefore;
      if (!replaced) throw error;
      sealedBefore = sealed;
    }
  }
}
