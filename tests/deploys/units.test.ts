/** What commands say of a unit that cannot run its app as it is. */
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { systemd, UNIT, unitsSuite } from './units.ts';

const test = unitsSuite('units');

test('a unit that does not load the secrets is reported with the line that it lacks', async ({
  world,
  memory,
}) => {
  const { root } = world;
  const env = systemd(memory, '');
  await world.push('v1', { deploy: UNIT });
  assert.is((await world.deploy([], env)).status, 0);
  const set = await run('runner-env', ['set', 'shop', 'DATABASE_URL', '--file', '-'], {
    root,
    env,
    stdin: 'postgres://localhost/shop',
  });
  assert.is(set.status, 0);
  const line =
    /shop\.service does not load the secrets of shop: .* EnvironmentFile=(\/\S+\/runner\/[0-9a-f]{8}\/shop\/default\.env)/;
  const path = line.exec(set.stderr)?.[1] ?? set.stderr;
  const commands = [
    ['runner-restart', 'shop'],
    ['runner-deploy', 'shop', '--check'],
    ['runner-doctor', '--offline'],
  ] as const;
  const said = async (given: Record<string, string>) => {
    const found: (string | undefined)[] = [];
    for (const [name, ...args] of commands) {
      const { stdout, stderr } = await run(name, args, { root, env: given });
      found.push(line.exec(stdout + stderr)?.[1]);
    }
    return found;
  };
  assert.equal(await said(env), [path, path, path]);
  const loading = systemd(memory, `EnvironmentFiles=${path} (ignore_errors=no)\\n`);
  assert.equal(await said(loading), [undefined, undefined, undefined]);
});

test.run();
