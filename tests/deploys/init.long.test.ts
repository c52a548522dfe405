import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { init } from './init.ts';
import { inWorld } from './world.ts';

test("the commit's own file is compared, and with --force the operator's wins over it", () =>
  inWorld(async (world) => {
    await world.push('v1', { files: { 'package.json': null } });
    const refused = await init(world, ['--no-prove', '--yes']);
    assert.is(refused.status, 1);
    assert.match(refused.stderr, /\n-health: .*\n/);
    const isThere = 'is there already: --force replaces it (force_needed)';
    assert.match(refused.stderr, `the .deploy.yml of the repository ${isThere}`);
    assert.equal(world.state().deploy_file, undefined);
    assert.is((await init(world, ['--no-prove', '--yes', '--force'])).status, 0);
    assert.is((world.state().deploy_file as { wins?: boolean }).wins, true);
    const again = await init(world, ['--no-prove', '--yes']);
    assert.match(again.stderr, `the operator's .deploy.yml of shop ${isThere}`);
  }));

test('a build of a proof sees nothing of the root', () =>
  inWorld(async (world) => {
    // Its own folder is there.
    const own = `(name) => !name.startsWith('runner-init-')`;
    const spy = `try { console.log(require('fs').readdirSync('${world.root}').filter(${own}).length) } catch { console.log('gone') }`;
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
