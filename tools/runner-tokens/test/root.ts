/** A root with apps, made by the executables. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

export { fingerprint } from '@runner/testing/fingerprint';

/** Has the shape of no known token, so nothing but care keeps it out of the output. */
export const TOKEN = 'plain-Token/with+odd=signs.0123456789';

/** A root with these apps; an app whose token is null has none. */
export async function rootWith(apps: Readonly<Record<string, string | null>>): Promise<string> {
  const root = join(temporaryFolder('tokens'), 'root');
  mkdirSync(root);
  for (const [app, token] of Object.entries(apps)) {
    const given = token === null ? ['--public'] : ['--token', '-'];
    const args = ['--repo', `acme/${app}`, '--branch', 'main', ...given];
    const { status, stderr } = await run('runner-add', args, { root, stdin: token ?? '' });
    if (status !== 0) throw new Error(stderr);
  }
  return root;
}

export const statePath = (root: string, app: string) => join(root, 'state', `${app}.json`);

/** Replaces the sealed token of an app's state file. */
export function changeSealed(root: string, app: string, change: (value: string) => unknown): void {
  const state = JSON.parse(readFileSync(statePath(root, app), 'utf8'));
  state.state.repohost_token = change(state.state.repohost_token);
  writeFileSync(statePath(root, app), JSON.stringify(state));
}

/** The sealed token of an app. */
export function sealedOf(root: string, app: string): string {
  return JSON.parse(readFileSync(statePath(root, app), 'utf8')).state.repohost_token;
}

export function configure(root: string, text: string): void {
  writeFileSync(join(root, 'config.yml'), text, { mode: 0o600 });
}
