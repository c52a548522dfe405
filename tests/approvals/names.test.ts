import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
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

test("the root's account can always read the grants, or the doctor says so", () =>
  planned('{ deploy: 1, by: [ada] }', async ({ root }) => {
    if (process.getuid?.() !== 0) return;
    const env = { RUNNER_ETC: temporaryFolder('etc') };
    const grant = ['add', 'helper', '--level', 'look', '--app', 'shop'];
    const folders = ['runner', 'runner/grants'].map((name) => join(env.RUNNER_ETC, name));
    const isOpen = () => folders.map((path) => statSync(path).mode & 0o777);
    assert.is((await run('runner-grant', grant, { root, env })).status, 0);
    assert.equal(isOpen(), [0o755, 0o755]);
    const [, grants = ''] = folders;
    chmodSync(grants, 0o750);
    chownSync(root, 65534, 65534);
    const { stdout } = await run('runner-doctor', ['--offline'], { root, env });
    const why = `${grants} is closed to the account of ${root}: no agent can use its grant`;
    assert.match(stdout, `problem  folders   ${why}\n                   chmod 755 ${grants}\n`);
    chownSync(root, 0, 0);
    assert.is((await run('runner-grant', grant, { root, env })).status, 0);
    assert.equal(isOpen(), [0o755, 0o755]);
  }));

test.run();
