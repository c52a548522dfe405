/** Root in the root of another user. */
import { chownSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { word } from '@runner/common/text/shell';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld } from '../deploys/world.ts';

const OTHER = 61_001;

const foreign = suite("root in another user's root");
const test = process.geteuid?.() === 0 ? foreign : foreign.skip;

test('nothing that the user planted runs as root, and the command to type is named', async () => {
  const world = await makeWorld();
  const { root } = world;
  const planted = temporaryFolder('planted');
  const proof = join(planted, 'ran-as-root');
  writeFileSync(join(planted, 'pm2'), `#!/bin/sh\ntouch ${word(proof)}\n`, { mode: 0o755 });
  const start = 'start: { type: pm2, run: "true" }\n';
  const instances = `instances: { default: { env: { PATH: "${planted}:/usr/bin:/bin" } } }\n`;
  await world.push('v1', { deploy: 'start: { type: none }\n' });
  assert.is((await world.deploy()).status, 0);
  const state = world.state() as { instances: { default: { current: { release: string } } } };
  const { release } = state.instances.default.current;
  writeFileSync(join(root, 'apps/shop/files', `${release}.deploy.yml`), instances + start);
  chownSync(root, OTHER, OTHER);
  for (const [tool, command, args] of [
    ['runner-deploy', 'deploy shop', ['shop']],
    ['runner-deploy', 'deploy --check shop', ['shop', '--check']],
    ['runner-rollback', 'rollback shop', ['shop']],
    ['runner-remove', 'remove shop', ['shop', '--yes']],
    ['runner-fetch', 'fetch --deploy', ['--deploy']],
    ['runner-start', 'start shop', ['shop']],
    ['runner-restart', 'restart shop', ['shop']],
    ['runner-exec', 'exec shop', ['shop', 'true']],
    ['runner-logs', 'logs shop', ['shop']],
    ['runner-changes', 'changes shop', ['shop']],
    ['runner-edit', 'edit', ['shop', '--branch', 'other']],
    ['runner-add', 'add', ['--repo', 'acme/other', '--branch', 'main', '--token-from', 'shop']],
    ['runner-env', 'env', ['unset', 'shop', 'NAME']],
    ['runner-tokens', 'tokens rekey', ['rekey']],
    ['runner-pause', 'pause', ['shop']],
    ['runner-resume', 'resume', ['shop']],
    ['runner-cancel', 'cancel shop', ['shop']],
    [
      'runner-audit',
      'audit emit',
      ['emit', 'DeployStarted', '--project', 'shop', '--version', '1'],
    ],
  ] as const) {
    const { status, stderr } = await run(tool, args, { root });
    assert.is(status, 1, tool);
    assert.match(
      stderr,
      `run: sudo -u '#${OTHER}' runner ${command} --root ${word(root)} (guard_tripped)`,
    );
  }
  for (const tool of ['runner-list', 'runner-doctor']) {
    await run(tool, tool === 'runner-doctor' ? ['--offline'] : [], { root });
  }
  assert.not(existsSync(proof));
  await world.close();
});

foreign.run();
