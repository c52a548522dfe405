/** What the short and the long tests of test all share. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CodeHostServer, startCodeHost } from '@runner/testing/code-host';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rootWith, type Tokens } from './rekey-root.ts';

export const GOOD = 'plain-Token/with+odd=signs.0123456789';

export const FINE = 'github_pat_11AAAAAAA0f1n3f1n3f1n3_aBcDeFgHiJkLmNoPqRsTuVwXyZ';

export const GONE = 'ghp_g0n3g0n3g0n3g0n3g0n3g0n3g0n3g0n3g0n3';

export const APPS: Tokens = { api: GOOD, blog: FINE, docs: null, old: GONE, shop: GOOD, web: GOOD };

export interface Host {
  host: CodeHostServer;
  root: string;
}

export function configure(root: string, url: string): void {
  writeFileSync(join(root, 'config.yml'), `code_host_api_url: ${url}\n`, { mode: 0o600 });
}

export async function askAll(
  root: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<Ended> {
  const ended = await run('runner-tokens', ['test', '--all', ...args], { root, ...options });
  for (const token of [GOOD, FINE, GONE])
    assert.equal(findSecret(ended.stdout + ended.stderr, token), []);
  return ended;
}

export interface Verdict {
  apps: string[];
  valid: boolean | null;
  http_status: number | null;
  error: string | null;
  message: string | null;
}

/** The verdicts by the first app of each. */
export function verdictsIn({ stdout }: Ended): Record<string, Verdict> {
  const { tokens } = JSON.parse(stdout) as { tokens: Verdict[] };
  return Object.fromEntries(tokens.map((each) => [each.apps[0], each]));
}

export function testAllSuite(name: string) {
  const test = suite<Host>(name);
  test.before.each(async (context) => {
    context.host = await startCodeHost({
      tokens: {
        [GOOD]: { login: 'octo', scopes: ['repo', 'read:org'] },
        [FINE]: { login: 'robot', scopes: null, expires: '2099-10-07 19:07:53 UTC' },
      },
    });
    context.root = rootWith(APPS, ['blog']);
    configure(context.root, context.host.apiUrl);
  });
  test.after.each(({ host }) => host.close());
  return test;
}
