/** Remembering when tokens end, and announcing an end that is near. */
import { changeRegistry } from '@runner/common/apps/change';
import type { AppState } from '@runner/common/apps/state';
import { requireApp, writeApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';
import { type AppChange, announceChanges } from '@runner/deploy/watch/announce';
import { tokenChanges } from '@runner/deploy/watch/changes';

/** A token that the code host accepted. */
interface Accepted {
  readonly apps: readonly string[];
  /** null: it does not end, or the host did not say. */
  readonly expires_at: string | null;
}

/** Writes the ends to the states of the apps; each change is announced once. */
export async function rememberEnds(
  { io, paths, note }: Pick<Context, 'io' | 'paths' | 'note'>,
  tokens: readonly Accepted[],
): Promise<void> {
  const changes: AppChange[] = [];
  changeRegistry(paths, io, 'tokens test', () => {
    for (const { apps, expires_at } of tokens) {
      for (const name of apps) {
        try {
          const app = withEnd(requireApp(paths, name), expires_at);
          const found = tokenChanges(app, io.now());
          changes.push(...found.changes.map((change) => ({ app, change })));
          writeApp(paths, { ...app, reported: { ...app.reported, ...found.reported } });
        } catch (error) {
          // Removed meanwhile.
          if (!(error instanceof Failure) || error.code !== 'app_not_found') throw error;
        }
      }
    }
  });
  await announceChanges({ io, paths, reporter: { note }, notify: true }, changes);
}

function withEnd(app: AppState, end: string | null): AppState {
  const { repohost_token_ends: _, ...rest } = app.state;
  return { ...app, state: end === null ? rest : { ...rest, repohost_token_ends: end } };
}
