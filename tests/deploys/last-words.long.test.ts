/** What a supervisor shows of an app that is down. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld } from './world.ts';

test('what a version printed that was left is not the cause of the one before', async () => {
  const world = await makeWorld();
  const folder = temporaryFolder('bin');
  const put = (name: string, text: string) =>
    writeFileSync(join(folder, name), text, { mode: 0o755 });
  const state = `$(cat '${folder}/active')`;
  const shown = `printf 'Id=%s\\nActiveState=%s\\n\\n' shop.service "${state}"`;
  put('systemctl', `#!/bin/sh\ncase $1 in is-active) echo "${state}" ;; show) ${shown} ;; esac\n`);
  const since = 'for each; do case $each in @*) since=${each#@} ;; esac; done';
  const crash = `[ "\${since%.*}" -gt "$(cat '${folder}/crash')" ] || echo 'TypeError: in v2'`;
  put('journalctl', `#!/bin/sh\n${since}\n${crash}\n`);
  put('active', 'active\n');
  const env = { PATH: `${folder}:${process.env.PATH}` };
  const type = (tool: string, ...args: string[]) =>
    run(`runner-${tool}`, args, { root: world.root, env });
  const down = async () => {
    put('active', 'inactive\n');
    await type('fetch', '--deploy');
    put('active', 'active\n');
    return world.events().at(-1);
  };
  for (const version of ['v1', 'v2']) {
    await world.push(version, { deploy: 'start: { type: systemd, unit: shop.service }\n' });
    assert.is((await world.deploy([], env)).status, 0);
  }
  put('crash', String(Math.floor(Date.now() / 1_000)));
  assert.is((await down())?.cause, 'TypeError: in v2');
  await sleep(1_100);
  assert.is((await type('rollback', 'shop')).status, 0);
  await type('fetch', '--deploy');
  const { event_type, version, cause } = (await down()) ?? {};
  assert.equal([event_type, version, cause], ['AppDown', 'v1', undefined]);
  await world.close();
});

test.run();
