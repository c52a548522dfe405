/** A root of a test's own, and `runner-add` run on it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

export { fingerprint } from '@runner/testing/fingerprint';
export { contentOf } from '@runner/testing/temp';

/** Has the shape of no known token, so nothing but care keeps it out of the output. */
/** Of this process alone: another test that runs meanwhile must not show it in its command lines. */
export const TOKEN = `plain-Token/with+odd=signs.${String(process.pid).padStart(10, '0')}`;

/** The path of a root that does not exist yet. */
export function newRoot(): string {
  return join(temporaryFolder('add'), 'root');
}

/** `runner-add` with these arguments on a root. */
export function add(
  root: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  return run('runner-add', args, { root, ...options });
}

/** Repository and branch, and a token on standard input. */
export const SHOP = ['--repo', 'acme/shop', '--branch', 'main'] as const;

/** Registers `acme/<app>` with a token. */
export async function register(root: string, app: string, token = TOKEN): Promise<void> {
  const args = ['--repo', `acme/${app}`, '--branch', 'main', '--token', '-'];
  const { status, stderr } = await add(root, args, { stdin: token });
  if (status !== 0) throw new Error(stderr);
}

/** An app's state file. */
export function stateOf(root: string, app: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(root, 'state', `${app}.json`), 'utf8'));
}

/** The sealed token of an app, and its protected header. */
export function sealedOf(root: string, app: string): { value: string; header: unknown } {
  const { state } = stateOf(root, app) as { state: { repohost_token: string } };
  const [head = ''] = state.repohost_token.split('.');
  return {
    value: state.repohost_token,
    header: JSON.parse(Buffer.from(head, 'base64url').toString('utf8')),
  };
}
