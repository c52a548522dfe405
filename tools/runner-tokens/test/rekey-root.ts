/** Roots with sealed tokens, made without starting a program, and what is in them afterwards. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { appNames, createApp } from '@runner/common/apps/store';
import { pathsOf } from '@runner/common/foundation/paths';
import { Secret } from '@runner/common/secrets/secret';
import { createKeyring, readKeyring } from '@runner/common/tokens/keyring';
import { openToken } from '@runner/common/tokens/open';
import { seal } from '@runner/common/tokens/vault';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

export { contentOf } from '@runner/testing/temp';

/** App -> its token; null for an app without one. */
export type Tokens = Readonly<Record<string, string | null>>;

export const THREE: Tokens = {
  api: 'plain-Token/with+odd=signs.0123456789',
  blog: 'ghp_b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1',
  shop: 'github_pat_11AAAAAAA0s5s5s5s5s5s5_aBcDeFgHiJkLmNoPqRsTuVwXyZ',
};

/** A root with these apps; those named in `ckey` have the second layer. */
export function rootWith(tokens: Tokens, ckey: readonly string[] = []): string {
  const root = join(temporaryFolder('tokens'), 'root');
  const paths = pathsOf(root);
  const keyring = createKeyring(paths, {});
  for (const [app, token] of Object.entries(tokens)) {
    const sealed =
      token === null
        ? null
        : seal(new Secret(token), app, keyring, { twoLayers: ckey.includes(app) });
    createApp(paths, {
      version: 1,
      app,
      repo: `acme/${app}`,
      branch: 'main',
      created_at: '2026-01-02T03:04:05.678Z',
      updated_at: '2026-01-02T03:04:05.678Z',
      state: sealed === null ? {} : { repohost_token: sealed },
      instances: {},
      failures: null,
      held: null,
      deploying: null,
      last_checked: null,
    });
  }
  return root;
}

/** Opens every token of a root; throws what opening throws. */
export function tokensIn(root: string): Tokens {
  const paths = pathsOf(root);
  const open = (app: string) => openToken(paths, {}, app)?.reveal() ?? null;
  return Object.fromEntries(appNames(paths).map((app) => [app, open(app)]));
}

/** Ids of the master keys, the current one first. */
export function keyIds(root: string): string[] {
  return (readKeyring(pathsOf(root), {}) ?? []).map(({ kid }) => kid);
}

/** The protected header of an app's sealed token. */
export function headerOf(root: string, app: string): Record<string, unknown> {
  const { state } = JSON.parse(readFileSync(join(root, 'state', `${app}.json`), 'utf8')) as {
    state: { repohost_token: string };
  };
  const [head = ''] = state.repohost_token.split('.');
  return JSON.parse(Buffer.from(head, 'base64url').toString('utf8')) as Record<string, unknown>;
}

/** `runner-tokens rekey` on a root. */
export function rekey(
  root: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<Ended> {
  return run('runner-tokens', ['rekey', ...args], { root, ...options });
}
