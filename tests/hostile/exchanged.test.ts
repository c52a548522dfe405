/** An app exchanges folders for links while runner works in them: nothing outside is read or written. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Canary, exchanging } from '@runner/testing/exchange';
import { type Ended, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld } from '../deploys/world.ts';

/** More for a long look. */
const WANTED = Number(process.env.EXCHANGES ?? 10_000);
const NAMES = ['file', 'other', 'output.log', 'big'];

/** Makes folders that look like the one outside, each with a link that takes its place. */
function plant(canary: Canary, folders: readonly string[]) {
  return folders.map((folder) => {
    // The last round may have left them exchanged.
    for (const path of [folder, `${folder}-link`]) rmSync(path, { recursive: true, force: true });
    mkdirSync(join(folder, 'inner'), { recursive: true });
    for (const name of [...NAMES, 'inner/file']) writeFileSync(join(folder, name), 'ours');
    symlinkSync(canary.folder, `${folder}-link`);
    return { folder, link: `${folder}-link`, target: canary.folder };
  });
}

/** Runs a command again and again while the folders in `above` are exchanged. */
async function attacked(
  prepare: (round: number) => Promise<readonly string[]>,
  command: (round: number) => Promise<Ended>,
): Promise<void> {
  const canary = new Canary(NAMES);
  let exchanges = 0;
  for (let round = 0; round < 3 || exchanges < WANTED; round += 1) {
    const attack = exchanging(plant(canary, await prepare(round)), round % 3 === 0 ? 0 : 20);
    const { status, stdout, stderr } = await command(round);
    exchanges += await attack.stop();
    assert.ok(status === 0 || status === 1, stderr);
    assert.not.match(stderr, 'this is a bug');
    assert.not.match(stdout, 'outside');
    assert.is(canary.changes(), '');
  }
  process.stdout.write(`(${exchanges} exchanges)\n`);
}

const levels = (top: string) => ['d0', 'x/d1', 'x/y/d2', 'x/y/z/d3'].map((path) => join(top, path));

async function makeRoot(): Promise<{ root: string; own: string }> {
  const root = join(temporaryFolder('exchanged'), 'root');
  return { root, own: join(root, 'apps/shop') };
}

async function register(root: string): Promise<void> {
  const args = ['--repo', 'acme/shop', '--branch', 'main', '--public'];
  const { status, stderr } = await run('runner-add', args, { root });
  assert.is(status, 0, stderr);
}

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

test('prune', async () => {
  const { root, own } = await makeRoot();
  await register(root);
  await attacked(
    async () => [...levels(join(own, 'releases/.tmp-dead')), ...levels(join(own, 'releases/r1'))],
    () => run('runner-prune', ['shop'], { root }),
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
