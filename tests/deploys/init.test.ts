import { readdirSync } from 'node:fs';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inWorld, type World } from './world.ts';

const scratches = temporaryFolder('scratches');
const init = ({ root }: World, args: readonly string[]) =>
  run('runner-init', ['--app', 'shop', ...args], {
    root,
    env: { TMPDIR: scratches, RUNNER_SANDBOX: 'auto' },
  });

const WITHOUT = { 'package.json': null, '.deploy.yml': null } as const;

test('the head of an app is proven on the server, and deployed with the file that is kept there', () =>
  inWorld(async (world) => {
    await world.push('v1', { files: WITHOUT });
    const ended = await init(world, ['--yes']);
    assert.is(ended.status, 0, ended.stderr);
    assert.match(ended.stdout, /^Wrote the operator's \.deploy\.yml of shop\. Proven: /);
    assert.equal(readdirSync(scratches), []);
    const check = await world.deploy(['--check', '--json']);
    const plan = JSON.parse(check.stdout) as Record<string, unknown>;
    assert.equal([plan.deploy_file_from, plan.start], ['operator', 'process']);
    // Nothing of the proof is in the root.
    assert.equal([world.current(), world.kinds()], [null, []]);
  }));

test("the commit's own file is compared, and with --force the operator's wins over it", () =>
  inWorld(async (world) => {
    await world.push('v1', { files: { 'package.json': null } });
    const refused = await init(world, ['--no-prove', '--yes']);
    assert.is(refused.status, 1);
    assert.match(refused.stderr, /\n-health: .*\n/);
    assert.match(refused.stderr, 'is there already: --force replaces it (force_needed)');
    assert.equal(world.state().deploy_file, undefined);
    assert.is((await init(world, ['--no-prove', '--yes', '--force'])).status, 0);
    assert.is((world.state().deploy_file as { wins?: boolean }).wins, true);
  }));

test('a build of a proof sees nothing of the root', () =>
  inWorld(async (world) => {
    const spy = `try { console.log(require('fs').readdirSync('${world.root}').length) } catch { console.log('gone') }`;
    const scripts = { build: 'node spy.js', start: 'node server.js' };
    await world.push('v1', {
      files: {
        'package.json': JSON.stringify({ scripts }),
        'spy.js': `${spy}\nprocess.exit(7);\n`,
        '.deploy.yml': null,
      },
    });
    const { stderr } = await init(world, ['--verbose']);
    assert.ok(/^(?:0|gone)$/m.test(stderr), stderr);
    assert.match(stderr, 'Not proven: build: `npm run build` ended with status 7');
  }));

test.run();
