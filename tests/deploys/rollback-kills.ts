/**
 * {one instance, two} × {kill -9 at each stage of a rollback by hand}: the next command under the lock
 * reports it and leaves a system that agrees with its state.
 */

import { killedAfter } from '@runner/testing/killing';
import { type Ended, run } from '@runner/testing/run';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { announced, look, makeStage, type Picture, type Stage } from './matrix.ts';

export const rollback = ({ world }: Stage, env: Record<string, string> = {}): Promise<Ended> =>
  run('runner-rollback', ['shop'], { root: world.root, env });

/** v1, then v2, which runs. */
export async function twoVersions(): Promise<Stage> {
  const stage = await makeStage('second');
  await stage.world.push('v2', { deploy: announced(stage.world) });
  await stage.world.deploy();
  await stage.world.git.deleteBranch('acme/shop', 'main');
  return { ...stage, before: stage.world.events().length };
}

export async function close({ world, chat }: Stage): Promise<void> {
  await world.close();
  await chat.close();
}

export const as = (version: string, events: readonly string[]): Picture => ({
  page: version,
  current: version,
  state: version,
  deploying: null,
  failures: 0,
  events: [...events],
  messages: [...events],
  left: [],
});

/** A rollback that is killed at a moment, and the stage that the next command names. */
export type Kill = readonly [when: string, moment: string, stage: string];

export function killTests(test: Test, kills: readonly Kill[]): void {
  for (const [when, moment, stageName] of kills) {
    test(`killed ${when}, the version that was active is active again, and that is reported`, async () => {
      const stage = await twoVersions();
      const { world } = stage;
      const killed = await rollback(stage, killedAfter(moment));
      assert.is(killed.signal, 'SIGKILL', killed.stderr);
      const shown = await run('runner-status', ['shop'], { root: world.root });
      assert.match(shown.stdout, /state: +interrupted\n/);
      const next = await world.deploy();
      assert.match(
        next.stderr,
        new RegExp(`rollback [0-9a-f]{8} was interrupted during ${stageName}: cleaning up`),
      );
      assert.equal(await look(stage), as('v2', ['DeployFailure']));
      const failure = world.events().at(-1);
      assert.equal(
        [failure?.error, failure?.version, failure?.previous_version],
        [`rollback interrupted during ${stageName}`, 'v1', 'v2'],
      );
      assert.is(world.state().held, null);
      await close(stage);
    });
  }
}
