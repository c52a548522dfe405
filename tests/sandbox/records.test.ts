/** What an app can do with the records of its own process and with its folders. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { word } from '@runner/common/text/shell';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld } from '../deploys/world.ts';
import { REQUIRED, records, test } from './records.ts';

test('an app writes its release, its shared files and its HOME, and replaces no folder that runner uses', async () => {
  const world = await makeWorld();
  const app = join(world.root, 'apps/shop');
  const tries = [
    ...['touch made', 'touch "$RUNNER_SHARED/made"', 'touch ~/made'],
    ...['touch "$own/run/pid.json"', 'touch "$own/run/output.log"', 'mv "$own/run" "$own/x"'],
    ...['ln -sfn /tmp "$own/current"', 'mv "$own" "$own"x', 'mv "$own/shared" "$own/x"'],
    ...['mv "$app/instances" "$app/x"', 'touch "$app/releases/x"', 'mv "$RUNNER_RELEASE" ../x'],
  ];
  const places = `app=${word(app)}; own="$app/instances/default"\n`;
  const hook = places + tries.map((each) => `${each} 2>/dev/null; echo status $?`).join('\n');
  const deploy = `${deployFile(world.port)}hooks:\n  post_deploy: |\n    ${hook.replaceAll('\n', '\n    ')}\n`;
  await world.push('v1', { deploy });
  assert.is((await world.deploy([], REQUIRED)).status, 0);
  const [log = ''] = readdirSync(join(world.root, 'logs/deploys/shop'));
  const text = readFileSync(join(world.root, 'logs/deploys/shop', log), 'utf8');
  assert.equal(
    [...text.matchAll(/^status (\d)$/gm)].map(([, status]) => status),
    tries.map((_, at) => (at < 3 ? '0' : '1')),
  );
  await world.close();
});

records.run();
