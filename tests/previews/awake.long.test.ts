/** Previews that `runner preview` made: asleep, woken, and after a reboot. */
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { askHost, markPreview, startWaker } from '../traffic/sleep-world.ts';
import { makePreviewWorld } from './world.ts';

test('a preview falls asleep, is woken by its first request, and runs again after a reboot', async () => {
  const world = await makePreviewWorld();
  const waker = await startWaker(world.root);
  try {
    await world.open(7);
    await world.sync();
    await world.answers('pr-7', 'pr 7');
    markPreview(world.root, 'shop--pr-7', { sleep_after: '1s' });
    await sleep(1_100);
    const fetched = await world.runner('fetch', '--deploy');
    assert.is(fetched.status, 0, fetched.stderr);
    const live = join(world.root, 'apps/shop--pr-7/instances/default/live');
    assert.is(readlinkSync(live), 'a.asleep', fetched.stderr);
    assert.equal(world.processes(), []);
    const ends = 'start: { type: process, run: exit 1 }\nhealth: { url: "http://unix/" }\n';
    const bad = await world.commit('topic-7', 'bad', `${ends}traffic: { type: socket }\n`, true);
    world.git('update-ref', 'refs/pull/7/head', bad);
    world.api.pulls.push(7, bad, false);
    await world.sync();
    const { preview } = world.state('shop--pr-7') as unknown as { preview: { error: string } };
    assert.match(
      preview.error,
      /; [0-9a-f]{12} sleeps until the next request, nothing was switched$/,
    );
    const socketPath = join(live, 'app.sock');
    const answer = await askHost({ socketPath }, 'pr-7.preview.example.org');
    assert.equal([answer.status, answer.text.trim()], [200, 'pr 7']);
    assert.is(readlinkSync(live), 'a');

    for (const line of world.processes()) process.kill(Number(line.split(' ')[2]), 'SIGKILL');
    await until(() => world.processes().length === 0, 'not ended');
    assert.is(await world.page('pr-7'), null);
    const booted = await world.runner('start', '--boot');
    assert.is(booted.status, 0, booted.stderr);
    await world.answers('pr-7', 'pr 7');
  } finally {
    waker.kill('SIGTERM');
    await world.end();
  }
});

test.run();
