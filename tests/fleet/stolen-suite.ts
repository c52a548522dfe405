/** What the short and the long tests of stolen share. */
import { hasBroker } from '@runner/testing/broker';
import type { Ended } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { UNSAFE } from '../../libs/common/src/text/harmless.ts';
import { makeStage, type Stage } from './stage.ts';
import { type Fields, steal, type Thief } from './stolen.ts';

export interface Scene extends Stage {
  thief: Thief;
  /** A server that behaves: its messages are signed by this test too. */
  honest: Thief;
}

export const COMMIT = 'c'.repeat(40);

export const LIE = 'deadbeef'.repeat(5);

export const head = (commit: string): Fields => ({
  commit,
  version: 'v2',
  problem: null,
  code: null,
});

/** Fields that web1 replaces in its replies, or its whole reply; what web2 says about the commit, null: nothing. */
export const says: { web1: Fields | string; web2: Fields | null } = {
  web1: {},
  web2: head(COMMIT),
};

export const serversIn = ([answer]: Fields[]) => answer?.servers as Fields[];

/** No crash, and nothing that could control a terminal. */
export function assertSafe({ stdout, stderr }: Ended): void {
  assert.not.match(stderr, /this is a bug/);
  for (const text of [stdout, stderr])
    assert.equal(text.replaceAll('\t', '\n').match(UNSAFE), null);
}

/** Plans a deploy while web2 gives this answer to the question for the commit. */
export async function planned({ fleet }: Scene, answer: Fields | null, ...args: string[]) {
  says.web1 = { head: head(LIE) };
  says.web2 = answer;
  const { status, lines, stderr } = await fleet('deploy', 'shop', '--plan', ...args);
  says.web2 = head(COMMIT);
  return [status, lines[0]?.commit ?? lines[0]?.error, stderr] as const;
}

export function stolenSuite(name: string) {
  const test = suite<Scene>(name);
  test.before(async (scene) => {
    if (!hasBroker()) return;
    Object.assign(scene, await makeStage(['web1', 'web2']));
    const { url } = scene.broker;
    scene.thief = await steal(url, 'web1', scene.roots.web1 as string);
    scene.honest = await steal(url, 'web2', scene.roots.web2 as string);
    scene.thief.reply(() => says.web1);
    scene.honest.reply(({ app }) => ({ head: app === undefined ? null : says.web2 }));
  });
  test.after(async ({ thief, honest, close }) => {
    await thief?.close();
    await honest?.close();
    await close?.();
  });
  return test;
}
