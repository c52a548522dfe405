/** An app exchanges folders for links while runner works in them: nothing outside is read or written. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import { makeWorld } from '../deploys/world.ts';
import { attacked, levels, makeRoot, register } from './exchanged.ts';

test('remove --purge', async () => {
  const { root, own } = await makeRoot();
  await attacked(
    async () => {
      if (!existsSync(join(root, 'state/shop.json'))) await register(root);
      return [
        ...levels(join(own, 'instances/default/shared')),
        ...levels(join(own, 'home')),
        ...levels(join(own, 'releases/r1')),
      ];
    },
    () => run('runner-remove', ['shop', '--yes', '--purge'], { root }),
  );
});

test('a deploy that puts contents into shared folders', async () => {
  const world = await makeWorld();
  const shared = join(world.root, 'apps/shop/instances/default/shared');
  const deploy = 'shared: [d0/inner/seed/, x/d1/inner/seed/]\n';
  try {
    await attacked(
      async () => levels(shared).slice(0, 2),
      async (round) => {
        const files = { 'd0/inner/seed/a': `${round}`, 'x/d1/inner/seed/b': `${round}` };
        await world.push(`v${round}`, { deploy, files });
        return world.deploy();
      },
    );
  } finally {
    await world.close();
  }
});

test('logs', async () => {
  const { root, own } = await makeRoot();
  await register(root);
  const state = join(root, 'state/shop.json');
  const current = {
    version: 'v1',
    commit: 'a'.repeat(40),
    release: 'r1',
    deploy_id: 'a1b2c3d4',
    deployed_at: '2026-11-01T00:00:00.000Z',
    start: 'process',
  };
  const instances = { default: { current, previous: [] } };
  writeFileSync(state, JSON.stringify({ ...JSON.parse(readFileSync(state, 'utf8')), instances }));
  const folder = join(own, 'instances/default/run');
  await attacked(
    async (round) => {
      rmSync(folder, { recursive: true, force: true });
      rmSync(`${folder}-link`, { recursive: true, force: true });
      return round % 2 === 0 ? [folder] : [join(folder, 'a')];
    },
    () => run('runner-logs', ['shop'], { root }),
  );
});

test.run();
