/** A root with apps, and `runner-edit` run on it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathsOf } from '@runner/common/foundation/paths';
import { openToken } from '@runner/common/tokens/open';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

export { fingerprint } from '@runner/testing/fingerprint';
export { contentOf } from '@runner/testing/temp';

/** Has the shape of no known token, so nothing but care keeps it out of the output. */
export const TOKEN = 'plain-Token/with+odd=signs.0123456789';
/** What it is changed to. */
export const NEW = 'another=Token/of-no-known.shape+987654';

/** A root with `shop` and `blog`, which have the token, and `open`, which has none. */
export async function newRoot(): Promise<string> {
  const root = join(temporaryFolder('edit'), 'root');
  await add(root, 'shop');
  await add(root, 'blog', ['--ckey', '--token', '-']);
  await add(root, 'open', ['--public']);
  return root;
}

async function add(root: string, app: string, how = ['--token', '-']): Promise<void> {
  const args = ['--repo', `acme/${app}`, '--branch', 'main', ...how];
  const { status, stderr } = await run('runner-add', args, { root, stdin: TOKEN });
  if (status !== 0) throw new Error(stderr);
}

/** `runner-edit` with these arguments on a root. */
export function edit(
  root: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  return run('runner-edit', args, { root, ...options });
}

/** An app's state file. */
export function stateOf(root: string, app: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(root, 'state', `${app}.json`), 'utf8'));
}

/** Adds fields to an app's state file by hand. */
export function plantState(root: string, app: string, fields: Record<string, unknown>): void {
  const path = join(root, 'state', `${app}.json`);
  writeFileSync(path, JSON.stringify({ ...stateOf(root, app), ...fields }));
}

/** The plaintext of an app's token; undefined when it has none. */
export function tokenOf(root: string, app: string): string | undefined {
  return openToken(pathsOf(root), {}, app)?.reveal();
}

/** `dir`, or `A256GCMKW` for a token with the second layer. */
export function algorithmOf(root: string, app: string): unknown {
  const { repohost_token: value = '' } = stateOf(root, app).state as { repohost_token?: string };
  const [head = ''] = value.split('.');
  return (JSON.parse(Buffer.from(head, 'base64url').toString()) as { alg: unknown }).alg;
}
