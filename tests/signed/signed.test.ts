/** `edit --require-signed`: only commits that someone root named has signed are deployed. */
import { execFileSync } from 'node:child_process';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { suiteOf } from '../deploys/world.ts';
import { edit, fetch, keyFile, line, makeSignedWorld } from './signed.ts';

const fingerprint = (name: string) =>
  execFileSync('ssh-keygen', ['-l', '-f', keyFile(name)])
    .toString()
    .split(' ')[1];

const test = suiteOf('signed commits', makeSignedWorld);

test('a signed commit is deployed, and the records have its signer; an unsigned one is refused once', async ({
  world,
}) => {
  world.list(line('ada'));
  assert.match((await edit(world, 'head')).stdout, /signatures required: head/);
  const first = world.commit('v1', 'ada');
  const { status, stderr } = await world.deploy();
  assert.is(status, 0, stderr);
  const signed = { principal: 'ada@example.org', key: fingerprint('ada'), kind: 'ssh' };
  for (const event of world.events()) assert.equal(event.signed_by, signed);
  assert.equal(
    [(world.state().accepted as { commit: string }).commit, world.state().version],
    [first, 2],
  );
  const second = world.commit('v2');
  for (let poll = 0; poll < 3; poll += 1) {
    const refused = await fetch(world, '--json');
    assert.equal(
      [refused.status, JSON.parse(refused.stdout).error, JSON.parse(refused.stdout).commit],
      [1, 'commit_not_signed', second],
    );
  }
  assert.equal((await run('runner-fetch', ['--json'], { root: world.root })).status, 0);
  const third = world.commit('v3');
  assert.match(
    (await fetch(world)).stderr,
    /^Deploy FAILED for shop \S+\.\nNext steps:\n {2}runner why shop\n {2}runner debug last-error shop\n$/m,
  );
  const shown = await run('runner-status', ['shop', '--json'], { root: world.root });
  assert.is(
    JSON.parse(shown.stdout).next,
    `nothing until the next push to main: the commit ${third.slice(0, 12)} is not signed`,
  );
  const failures = world.events().filter(({ event_type }) => event_type === 'DeployFailure');
  assert.equal(
    failures.map(({ commit, stage }) => [commit, stage]),
    [
      [second, 'fetch'],
      [third, 'fetch'],
    ],
  );
  assert.match(
    String(failures[0]?.error),
    new RegExp(`^the commit ${second.slice(0, 12)} is not signed$`),
  );
  world.commit('v4', 'ada');
  const plan = await run('runner-plan', ['deploy', 'shop'], { root: world.root });
  assert.match(plan.stdout, /^ *signed by: +ada@example\.org \(SHA256:/m);
  const good = await fetch(world);
  assert.match(good.stdout, /^shop: deployed [0-9a-f]{12}\n$/, good.stderr);
  assert.equal(world.kinds().slice(-3), ['DeployStarted', 'DeploySuccess', 'CheckRecovered']);
});

test.run();
