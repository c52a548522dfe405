/** `kill -9` of what changes the registry: each app is there with its token, or it is not. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint } from '@runner/testing/fingerprint';
import type { Storm } from '@runner/testing/kill-storm';
import type { KilledCommand } from '@runner/testing/killing';
import * as assert from 'uvu/assert';
import { must, NEW_TOKEN, TOKEN } from './server.ts';

const addition = (app: string): KilledCommand => ({
  tool: 'runner-add',
  args: ['--repo', 'acme/x', '--branch', 'main', '--token', '-', '--name', app],
  stdin: TOKEN,
});

/** Does what has to succeed. */
async function done(root: string, { tool, args, stdin = '' }: KilledCommand): Promise<void> {
  await must(tool, args, { root, stdin });
}

/** Apps by the fingerprint of their token; all of them can be opened, and there are no others. */
async function appsByToken(root: string): Promise<Map<string, string[]>> {
  const { stdout } = await must('runner-tokens', ['list', '--json'], { root });
  const { tokens } = JSON.parse(stdout) as { tokens: { fingerprint: string; apps: string[] }[] };
  const apps = tokens.flatMap((group) => group.apps);
  const files = readdirSync(join(root, 'state')).filter((name) => /^[^.].*\.json$/.test(name));
  assert.equal([...apps, 'open'].sort(), files.map((name) => name.slice(0, -5)).sort());
  assert.ok(apps.includes('shop') && apps.includes('blog'), stdout);
  return new Map(tokens.map((group) => [group.fingerprint, group.apps]));
}

const isThere = (tokens: Map<string, string[]>, app: string) =>
  [...tokens.values()].flat().includes(app);

/** `add` of a new app each time: one that is not there can be added. */
export function adding(root: string): Storm {
  return {
    next: (time) => addition(`app${time}`),
    async check({ signal }, time) {
      const there = isThere(await appsByToken(root), `app${time}`);
      if (signal === null) assert.ok(there);
      if (!there) await done(root, addition(`app${time}`));
    },
  };
}

/** `edit` of the token of `blog`, from one to the other and back: it is one of the two, whole. */
export function editing(root: string): Storm {
  const tokenOf = (time: number) => (time % 2 === 0 ? NEW_TOKEN : TOKEN);
  return {
    next: (time) => ({
      tool: 'runner-edit',
      args: ['blog', '--token', '-'],
      stdin: tokenOf(time),
    }),
    async check({ signal }, time) {
      const apps = await appsByToken(root);
      const isSealed = (app: string, token: string) =>
        apps.get(fingerprint(token))?.includes(app) ?? false;
      assert.ok(isSealed('shop', TOKEN));
      assert.ok(isSealed('blog', tokenOf(time)) || (signal && isSealed('blog', tokenOf(time + 1))));
    },
  };
}
