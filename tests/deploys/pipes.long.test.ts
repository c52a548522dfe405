import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recordsOf, sh } from './pipes.ts';
import { deployFile, impatient, inWorld } from './world.ts';

const test = suite('records in a pipe');

test('an output that is full changes nothing of what is done: each record once, and status 1', () =>
  inWorld(async (world) => {
    await world.push('v1');
    const first = await sh(world, 'runner-deploy shop --events >/dev/full');
    const words = 'cannot write to standard output: no space left on the disk (output_failed)\n';
    assert.is(first.status, 1);
    assert.ok(first.stderr.endsWith(`runner deploy: ${words}`), first.stderr);
    await world.push('v2');
    const second = await sh(world, 'runner-deploy shop --json >/dev/full');
    assert.is(second.status, 1);
    assert.ok(second.stderr.endsWith(`runner deploy: ${words}`), second.stderr);
    assert.is((await sh(world, 'runner-rollback shop --events >/dev/full')).status, 1);
    assert.equal(world.kinds(), [
      ...['DeployStarted', 'DeploySuccess', 'DeployStarted', 'DeploySuccess', 'RollbackSuccess'],
    ]);
    assert.is((await sh(world, 'runner-audit verify')).status, 0);
    assert.match((await sh(world, 'runner-list')).stdout, /^shop +held .* v1 /m);
  }));

test('--events is not combined with --json; every record names its app and event in both ways', () =>
  inWorld(async (world) => {
    await world.push('v1');
    const refused = await world.deploy(['--events', '--json']);
    assert.is(refused.status, 2);
    assert.match(refused.stderr, /'--events' cannot be used with '--json'/);
    await world.deploy();
    for (const record of world.events()) {
      assert.is(record.app, record.project);
      assert.is(record.event, record.event_type);
    }
  }));

test('emit in a pipe prints the records of this server, and writes none of them a second time', () =>
  inWorld(async (world) => {
    await world.push('v1');
    const done = await sh(world, 'runner-deploy shop --events | runner-audit emit');
    assert.is(done.status, 0, done.stderr);
    assert.equal(world.kinds(), ['DeployStarted', 'DeploySuccess']);
    assert.equal(recordsOf(done), world.events());
    const again = await sh(world, 'runner-audit list --json | runner-audit emit');
    assert.is(again.status, 0, again.stderr);
    assert.is(world.events().length, 2);
    const verified = await sh(world, 'runner-audit verify');
    assert.is(verified.status, 0, verified.stdout);
  }));

test('notify send takes the records of a deploy', () =>
  inWorld(async (world) => {
    await world.push('v1');
    const piped = 'runner-deploy shop --no-notify --events | runner-notify send --json';
    const results = recordsOf(await sh(world, piped));
    assert.equal(
      results.map(({ event, app, result, reason }) => [event, app, result, reason]),
      [
        ['DeployStarted', 'shop', 'skipped', 'not_configured'],
        ['DeploySuccess', 'shop', 'skipped', 'not_configured'],
      ],
    );
    assert.is(results[0]?.deploy_id, world.events()[0]?.deploy_id);
  }));

test('emit on another server takes the records as those of another tool', () =>
  inWorld(async (world) => {
    await world.push('v1');
    const other = join(world.root, '..', 'other');
    const piped = `runner-deploy shop --events | runner-audit emit --root '${other}'`;
    const done = await sh(world, piped);
    assert.is(done.status, 0, done.stderr);
    assert.equal(
      recordsOf(done).map(({ source, seq }) => [source, seq]),
      [
        ['emit', 1],
        ['emit', 2],
      ],
    );
    const verified = await sh(world, `runner-audit verify --root '${other}'`);
    assert.is(verified.status, 0, verified.stdout);
  }));

test('a record that was changed on its way is another record', () =>
  inWorld(async (world) => {
    await world.push('v1');
    await world.deploy();
    const changed = `runner-audit list --json | sed 's/"version":"v1"/"version":"v9"/' | runner-audit emit`;
    const done = await sh(world, changed);
    assert.is(done.status, 0, done.stderr);
    assert.equal(
      world.events().map(({ version, source }) => [version, source]),
      [
        ['v1', undefined],
        ['v1', undefined],
        ['v9', 'emit'],
        ['v9', 'emit'],
      ],
    );
    assert.is((await sh(world, 'runner-audit verify')).status, 0);
  }));

test('history and stats read records from standard input, where no root is needed', () =>
  inWorld(async (world) => {
    await world.push('v1');
    await world.deploy();
    await world.push('v2', { deploy: impatient(world.port), health: 503 });
    await world.deploy();
    await sh(world, 'runner-restart shop');
    for (const command of ['runner-history', 'runner-history shop'])
      assert.is(
        (await sh(world, `runner-audit list --json | ${command} - --json`)).stdout,
        (await sh(world, `${command} --json`)).stdout,
      );
    const none = await sh(world, 'runner-audit list --json | runner-history nothing -');
    assert.equal([none.status, none.stdout], [1, '']);
    assert.match(none.stderr, /no record on standard input names the app 'nothing'/);
    const elsewhere =
      'runner-audit list --json | RUNNER_ROOT=$RUNNER_ROOT/none runner-stats - --json';
    const { deploys, changes } = JSON.parse((await sh(world, elsewhere)).stdout);
    assert.equal([deploys, changes], [2, 2]);
    const log = await sh(world, 'RUNNER_ROOT=$RUNNER_ROOT/none runner-history');
    assert.is(log.status, 1);
    const broken = await sh(world, 'jq . "$RUNNER_ROOT"/state/shop.json | runner-history -');
    assert.is(broken.status, 1);
    assert.match(broken.stderr, /\(event_invalid\)\n$/);
  }));

test('a reader that leaves does not stop the deploy', () =>
  inWorld(async (world) => {
    await world.push('v1', { deploy: deployFile(world.port, 'build: sleep 0.3') });
    const done = await sh(world, 'runner-deploy shop --events | true');
    assert.is(done.status, 0, done.stderr);
    assert.equal(world.kinds(), ['DeployStarted', 'DeploySuccess']);
  }));

test.run();
