/** Remembering when tokens end, and announcing an end that is near. */

import { changeRegistry } from '@runner/common/apps/change';
import type { AppState } from '@runner/common/apps/state';
import { findApp, writeApp } from '@runner/common/apps/store';
import { failureIn } from '@runner/common/foundation/attempt';
import { announcingChange } from '@runner/deploy/alerts/announce';
import { tokenChanges } from '@runner/deploy/alerts/token';
import type { TestContext } from './warn.ts';

/** A token that the code host accepted. */
interface Accepted {
  readonly fingerprint: string;
  readonly apps: readonly string[];
  /** null: it does not end, or the host did not say. */
  readonly expires_at: string | null;
}

/** Writes the ends to the states of the apps. A root that cannot be written is only reported. */
export function rememberEnds({ io, paths, note }: TestContext, tokens: readonly Accepted[]): void {
  const ends = tokens.flatMap(({ apps, ...token }) => apps.map((name) => ({ name, ...token })));
  const news = () =>
    ends.flatMap(({ name, fingerprint, expires_at }) => {
      const app = findApp(paths, name);
      const next = app && withEnd(app, fingerprint, expires_at);
      return next && next !== app ? [next] : [];
    });
  const failure = failureIn(() => {
    if (news().length === 0) return;
    changeRegistry({ io, paths, command: 'tokens test' }, () => {
      for (const app of news()) writeApp(paths, app);
    });
  });
  if (failure)
    note(`the expiry date of the token was not saved: ${failure.message} (${failure.code})`);
}

/** Announces each change once for each token. */
export async function announceEnds(
  { io, paths, note }: TestContext,
  tokens: readonly Accepted[],
): Promise<void> {
  const announcing = { io, paths, reporter: { note }, notify: true };
  await announcingChange(announcing, 'tokens test', (announce) => {
    const apps = tokens.flatMap(({ apps: names }) =>
      names.flatMap((name) => findApp(paths, name) ?? []),
    );
    for (const change of tokenChanges(paths, apps, io.now())) announce(change);
  });
}

/** The same app if there is nothing new: a host that omits the end once does not change it. */
function withEnd(app: AppState, fingerprint: string, end: string | null): AppState {
  const {
    repohost_token_ends: knownEnd,
    repohost_token_fingerprint: knownPrint,
    ...rest
  } = app.state;
  if (knownPrint === fingerprint && (end === null || end === knownEnd)) return app;
  if (end === null) return knownEnd === undefined ? app : { ...app, state: rest };
  const known = { repohost_token_ends: end, repohost_token_fingerprint: fingerprint };
  return { ...app, state: { ...rest, ...known } };
}
