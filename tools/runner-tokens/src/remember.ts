/** Remembering when tokens end, and announcing an end that is near. */
import { changeRegistry } from '@runner/common/apps/change';
import type { AppState } from '@runner/common/apps/state';
import { requireApp, writeApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';
import { announceChanges } from '@runner/deploy/watch/announce';
import { tokenChanges } from '@runner/deploy/watch/token';

/** A token that the code host accepted. */
interface Accepted {
  readonly fingerprint: string;
  readonly apps: readonly string[];
  /** null: it does not end, or the host did not say. */
  readonly expires_at: string | null;
}

/** Writes the ends to the states of the apps; each change is announced once for each token. */
export async function rememberEnds(
  { io, paths, note }: Pick<Context, 'io' | 'paths' | 'note'>,
  tokens: readonly Accepted[],
): Promise<void> {
  const changes = changeRegistry(paths, io, 'tokens test', () => {
    const seen: AppState[] = [];
    for (const { fingerprint, apps, expires_at } of tokens) {
      for (const name of apps) {
        try {
          const app = withEnd(requireApp(paths, name), fingerprint, expires_at);
          writeApp(paths, app);
          seen.push(app);
        } catch (error) {
          // Removed meanwhile.
          if (!(error instanceof Failure) || error.code !== 'app_not_found') throw error;
        }
      }
    }
    return tokenChanges(paths, seen, io.now());
  });
  await announceChanges({ io, paths, reporter: { note }, notify: true }, changes);
}

function withEnd(app: AppState, fingerprint: string, end: string | null): AppState {
  const { repohost_token_ends: _, repohost_token_fingerprint: __, ...rest } = app.state;
  if (end === null) return { ...app, state: rest };
  const known = { repohost_token_ends: end, repohost_token_fingerprint: fingerprint };
  return { ...app, state: { ...rest, ...known } };
}
