/** What a plan says of the way back and of the gap is what its command and the way back then do. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inWorld, type World } from '../deploys/world.ts';

const test = suite('undo');

const TWO = `instances: { a: { env: { NAME: a } }, b: { env: { NAME: b } } }
start: { type: process, run: exec sleep 600 }
`;

interface Shown {
  stopped: { instances: string[] } | null;
  instances: Record<string, { current: { version: string } | null }>;
}

/** Versions by instance, in brackets where it is stopped. */
function runs(world: World): string {
  const { instances, stopped } = world.state() as unknown as Shown;
  return Object.entries(instances)
    .flatMap(([name, { current }]) => {
      const isOff = stopped?.instances.includes(name);
      return current ? [`${name} ${isOff ? `(${current.version})` : current.version}`] : [];
    })
    .join(', ');
}

async function typed(world: World, line: string): Promise<string> {
  const [tool = '', ...args] = line.split(' ');
  const { status, stdout, stderr } = await run(`runner-${tool}`, args, world);
  assert.is(status, 0, `${line}: ${stderr}`);
  return stdout;
}

/** Plans and applies a command, and types its way back. */
async function thereAndBack(world: World, line: string): Promise<string> {
  const before = runs(world);
  const { id, summary } = JSON.parse(await typed(world, `plan ${line} --json`));
  await typed(world, `apply ${id}`);
  const after = runs(world);
  if (!summary.undo.startsWith('none: '))
    for (const each of summary.undo.split('; ')) await typed(world, each.replace(/^runner /, ''));
  assert.is(runs(world), before, `${line}: ${summary.undo}`);
  return `${after} | ${summary.gap.split(':')[0]} | ${summary.undo.replace(/[0-9a-f]{40}/g, 'C')}`;
}

const STOP = 'from the stop of the old version until the new one answers';
const SAME = 'none | none: each instance has the same commit before and after';

test('what takes a plan back leaves other instances, and the stopped ones, as they were', () =>
  inWorld(async (world) => {
    const done = (line: string) => thereAndBack(world, line);
    for (const version of ['v1', 'v2']) await world.launch(version, { deploy: TWO });
    assert.is(
      await done('deploy shop'),
      `a v2, b v2 | ${STOP} | none: each instance has the same commit before and after`,
    );
    await world.push('v3', { deploy: TWO });
    assert.is(await done('deploy shop'), `a v3, b v3 | ${STOP} | runner rollback shop`);
    assert.is(
      await done('deploy shop --instance a'),
      `a v3, b v2 | ${STOP} | runner rollback shop --instance a`,
    );
    await typed(world, 'deploy shop --instance a');
    assert.match(await typed(world, 'plan deploy shop'), /commits: +1, by .+\n +v3\n/);
    assert.match(await typed(world, 'plan deploy shop --instance a'), /commits: +none is new\n/);
    assert.is(
      await done('deploy shop'),
      `a v3, b v3 | ${STOP} | runner rollback shop --instance b`,
    );
    assert.is(
      await done('rollback shop'),
      `a v2, b v1 | ${STOP} | runner deploy shop --ref C --instance a; runner deploy shop --ref C --instance b`,
    );
    assert.is(
      await done('rollback shop --instance b'),
      `a v3, b v1 | ${STOP} | runner deploy shop --ref C --instance b`,
    );
    await typed(world, 'stop shop --instance b');
    assert.is(
      await done('stop shop'),
      'a (v3), b (v2) | until it is started again | runner start shop --instance a',
    );
    assert.is(
      await done('stop shop --instance b'),
      `a v3, b (v2) | none | none: it is stopped already`,
    );
    assert.is(await done('start shop'), 'a v3, b v2 | none | runner stop shop --instance b');
    assert.is(
      await done('start shop --instance b'),
      'a v3, b v2 | none | runner stop shop --instance b',
    );
    assert.is(await done('start shop --instance a'), `a v3, b (v2) | ${SAME}`);
    assert.is(await done('restart shop'), `a v3, b v2 | ${STOP} | runner stop shop --instance b`);
    assert.is(
      await done('deploy shop --instance b'),
      'a v3, b v3 | none | runner rollback shop --instance b; runner stop shop --instance b',
    );
    assert.is(
      await done('rollback shop --instance b'),
      'a v3, b v1 | none | runner deploy shop --ref C --instance b; runner stop shop --instance b',
    );
    appendFileSync(
      join(world.root, 'config.yml'),
      'require_approval: { shop: { deploy: 1, by: [root] } }\n',
    );
    const refused = await typed(world, 'plan rollback shop --json');
    assert.match(JSON.parse(refused).summary.undo, /^runner plan deploy shop --ref /);
  }));

test('an instance that leaves is shown as stopped, and comes back', () =>
  inWorld(async (world) => {
    await world.launch('v1', { deploy: TWO });
    await world.push('v2', { deploy: TWO.replace('b: {', 'c: {') });
    const one = await typed(world, 'plan deploy shop --instance a');
    assert.not.match(one, /^ +b:/m);
    assert.match(await typed(world, 'plan deploy shop'), /^ +b: +v1 -> stopped\n/m);
    const { summary } = JSON.parse(await typed(world, 'plan deploy shop --json'));
    await typed(world, 'deploy shop');
    assert.is(runs(world), 'a v2, c v2');
    for (const each of summary.undo.split('; ')) await typed(world, each.replace(/^runner /, ''));
    assert.is(runs(world), 'a v1, c (v2), b v1', summary.undo);
  }));

test('a plan of overlap: false has a gap, and a first deploy of what runs nothing has no way back', () =>
  inWorld(async (world) => {
    const plan = async () => JSON.parse(await typed(world, 'plan deploy shop --json')).summary;
    await world.push('v0', { deploy: 'health: { cmd: "true" }\n' });
    assert.is((await plan()).gap, 'none: nothing is started');
    assert.is((await plan()).undo, 'no earlier version is kept');
    await typed(world, 'deploy shop');
    for (const verb of ['start', 'stop', 'restart']) {
      const useless = await run('runner-plan', [verb, 'shop'], world);
      assert.is(useless.status, 1);
      assert.match(useless.stdout, `is none: there is nothing to ${verb}\n`);
    }
    await world.push('v0.1', {
      deploy: 'instances: { one: {} }\nstart: { type: command, run: "true" }\n',
    });
    assert.is((await plan()).undo, 'no earlier version is kept');
    const traffic = (more: string) => `start: { type: process, run: exec node server.js }
health: { cmd: "true" }
traffic: { type: ports, ports: [${world.port}, ${world.port + 1}]${more} }
`;
    await world.push('v1', { deploy: traffic(', overlap: false') });
    await typed(world, 'deploy shop');
    assert.is((await plan()).gap, STOP);
    assert.match((await plan()).memory, /^one version at a time/);
    await world.push('v2', { deploy: traffic('') });
    assert.is((await plan()).gap, 'none: the new version starts beside the old one');
    assert.match((await plan()).memory, /^two versions run beside each other/);
    await typed(world, 'stop shop');
    assert.match((await plan()).memory, /^one version at a time/);
  }));

test.run();
