import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { armouredBy, signingKey } from '../signed/keys.ts';
import { planned } from './person.ts';

const test = suite('names');

test('a name that is not there gets no grant, and one of the names of a key counts', () =>
  planned('{ deploy: 1, by: [ada] }', async ({ root }, id) => {
    const env = { RUNNER_ETC: temporaryFolder('etc') };
    const grant = (...more: string[]) =>
      run('runner-grant', ['add', 'helper', '--level', 'look', ...more], { root, env });
    const app = await grant('--app', 'shop,nope');
    assert.is(app.status, 1);
    assert.match(app.stderr, "'nope'");
    const user = await grant('--app', 'shop', '--user', 'nobodyxx');
    assert.is(user.status, 2);
    assert.match(user.stderr, "invalid value 'nobodyxx' for '--user <USER>': it must be a user");
    for (const name of ['ada', 'daemon'])
      assert.is((await grant('--app', 'shop', '--user', name)).status, 0);
    const key = signingKey();
    const list = (line: string) => writeFileSync(join(root, 'approvers'), `${line}\n`);
    const { stdout } = await run('runner-plan', ['show', id, '--text'], { root });
    const stdin = `${armouredBy(key, Buffer.from(stdout), 'runner-approval')}\n`;
    const approve = () =>
      run('runner-approve', [id, '--no-apply', '--signature', '-'], { root, stdin });
    list(`ada valid-before="20200101" ${key.line}`);
    assert.match((await approve()).stderr, 'of ada, which is not valid now');
    list(`eve,ada ${key.line}`);
    assert.match((await approve()).stdout, `by ada; runner apply ${id}`);
  }));

test.run();
