import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { executable, run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { armouredBy, signingKey } from '../signed/keys.ts';
import { asSudo, planned } from './person.ts';

const test = suite('who approves');

test('who wrote a commit or made the plan does not count with not_author', () =>
  planned(
    '{ deploy: 1, by: { root: [], daemon: [ada@example.org], bin: [] }, not_author: true }',
    async ({ root }, id) => {
      const line = `${executable('runner-approve')} ${id} --no-apply --root ${root}`;
      const maker = await run('runner-approve', [id], { root });
      assert.match(maker.stderr, `root made ${id}: someone else has to approve it`);
      const author = asSudo(1, line);
      assert.match(author.stderr, `daemon wrote commits of ${id}: someone else has to approve it`);
      assert.is(asSudo(2, line).status, 0);
    },
  ));

test('a signature counts for one plan, one namespace, and keys of root that are not revoked', () =>
  planned('{ deploy: 1, by: [ada] }', async ({ root }, id) => {
    const [ada, eve] = [signingKey(), signingKey()];
    writeFileSync(join(root, 'approvers'), `ada ${ada.line}\neve ${eve.line}\n`);
    const { stdout } = await run('runner-plan', ['show', id, '--text'], { root });
    const text = Buffer.from(stdout);
    const approve = (signature: string) =>
      run('runner-approve', [id, '--no-apply', '--signature', '-'], {
        root,
        stdin: `${signature}\n`,
      });
    const refused = async (signature: string, why: string) => {
      const { status, stderr } = await approve(signature);
      assert.is(status, 1);
      assert.match(stderr, why);
      assert.match(stderr, '(approval_refused)');
    };
    await refused(armouredBy(ada, text), 'was not made for runner-approval');
    const other = Buffer.from(stdout.replace(id, 'p-00000000'));
    await refused(armouredBy(ada, other, 'runner-approval'), 'signature of other content');
    await refused(armouredBy(eve, text, 'runner-approval'), 'eve may not approve');
    await refused(armouredBy(signingKey(), text, 'runner-approval'), 'does not list');
    writeFileSync(join(root, 'approvers.revoked'), `${ada.line}\n`);
    await refused(armouredBy(ada, text, 'runner-approval'), 'revoked key');
    writeFileSync(join(root, 'approvers.revoked'), '');
    const good = await approve(armouredBy(ada, text, 'runner-approval'));
    assert.is(good.status, 0, good.stderr);
    assert.match(good.stdout, 'by ada');
  }));

test('two applies at once deploy once, and an emergency is recorded', () =>
  planned('{ deploy: 1, by: [root] }', async ({ root, events, deploy }, id) => {
    assert.is((await run('runner-approve', [id, '--no-apply'], { root })).status, 0);
    const both = await Promise.all([1, 2].map(() => run('runner-apply', [id], { root })));
    assert.equal(
      both.map(({ status }) => status).sort(),
      [0, 1],
      both.map((each) => each.stderr).join(),
    );
    assert.is(events().filter(({ event_type: kind }) => kind === 'DeployStarted').length, 2);
    const urgent = await deploy(['--emergency', 'the site is down']);
    assert.is(urgent.status, 0, urgent.stderr);
    assert.is(events().at(-1)?.emergency, 'the site is down');
  }));

test('an approval by a key that is revoked or no longer listed does not count any more', () =>
  planned('{ deploy: 1, by: [ada, bob] }', async ({ root }, id) => {
    const [ada, bob] = [signingKey(), signingKey()];
    const listed = join(root, 'approvers');
    writeFileSync(listed, `ada ${ada.line}\nbob ${bob.line}\n`);
    const text = Buffer.from((await run('runner-plan', ['show', id, '--text'], { root })).stdout);
    const approve = (key: typeof ada) =>
      run('runner-approve', [id, '--no-apply', '--signature', '-'], {
        root,
        stdin: `${armouredBy(key, text, 'runner-approval')}\n`,
      });
    const runner = async (tool: string, ...args: string[]) => {
      const { stdout, stderr } = await run(`runner-${tool}`, args, { root });
      return `${stdout}${stderr}`;
    };
    assert.is((await approve(bob)).status, 0);
    assert.match(await runner('plan', 'list'), `ready: runner apply ${id}`);
    const refused = async (why: RegExp) => {
      const says = new RegExp(`the approval by bob no longer counts: it ${why.source}`);
      assert.match(await runner('apply', id), new RegExp(`has 0 of 1 approvals: .*${says.source}`));
      assert.match(await runner('plan', 'list'), says);
      assert.match(await runner('plan', 'show', id), says);
      assert.match(JSON.parse(await runner('status', 'shop', '--json')).next, says);
    };
    writeFileSync(`${listed}.revoked`, `${bob.line}\n`);
    await refused(/is signed by the revoked key SHA256:/);
    writeFileSync(`${listed}.revoked`, '');
    assert.match(await runner('plan', 'list'), `ready: runner apply ${id}`);
    writeFileSync(listed, `ada ${ada.line}\n`);
    await refused(/is signed by SHA256:\S+, which \S+approvers does not list/);
    assert.is((await approve(ada)).status, 0);
    assert.match(await runner('apply', id), 'Deployed');
  }));

test.run();
