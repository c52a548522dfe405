import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { appFiles } from '@runner/testing/app';
import { executable, run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, inWorld, REPO } from '../deploys/world.ts';
import { asSudo } from './person.ts';

const test = suite('authors of a plan');

test('a host that sends no commits alone hides no author, and a first deploy brings the whole history', () =>
  inWorld(async (world) => {
    const { root, port, git } = world;
    execFileSync('git', ['-C', git.path(REPO), 'config', 'uploadpack.allowFilter', 'false']);
    appendFileSync(
      `${root}/config.yml`,
      'require_approval: { shop: { deploy: 1, by: [daemon, bin, sys], not_author: true } }\n',
    );
    const push = (version: string, by: string) => {
      const files = { ...appFiles(version), '.deploy.yml': deployFile(port) };
      return git.commit(REPO, files, `${version}\n\nco-authored-by: X <${by}@example.org>`);
    };
    const plan = async () => {
      const { stdout, stderr } = await run('runner-plan', ['deploy', 'shop', '--json'], { root });
      assert.match(stdout, '"id":"p-', stderr);
      return JSON.parse(stdout);
    };
    const approve = (uid: number, id: string) =>
      asSudo(uid, `${executable('runner-approve')} ${id} --no-apply --root ${root}`);
    await push('v1', 'daemon');
    await push('v2', 'bin');
    const first = await plan();
    assert.is(first.summary.changes.count, 2);
    assert.equal(first.needs.barred, ['daemon', 'bin']);
    const { stdout: shown } = await run('runner-plan', ['list'], { root });
    assert.match(shown, `waits for approval ${first.id} by sys`);
    for (const uid of [1, 2])
      assert.match(approve(uid, first.id).stderr, `wrote commits of ${first.id}`);
    assert.is(approve(3, first.id).status, 0);
    assert.is((await run('runner-apply', [first.id], { root })).status, 0);
    await push('v3', 'bin');
    await push('v4', 'sys');
    const second = await plan();
    assert.is(second.summary.changes.count, 2);
    assert.equal(second.needs.barred, ['bin', 'sys']);
    for (const uid of [2, 3])
      assert.match(approve(uid, second.id).stderr, `wrote commits of ${second.id}`);
    assert.is(approve(1, second.id).status, 0);
    await push('v5', 'daemon');
    const stuck = await plan();
    const short = `${stuck.id}, which no one else may give, until `;
    const next = ': list someone else in require_approval of config.yml, for the next plan';
    const wanted = world.events().findLast(({ event_type: kind }) => kind === 'ApprovalWanted');
    const { stdout } = await run('runner-status', ['shop', '--json'], { root });
    const status = JSON.parse(stdout);
    for (const text of [String(wanted?.reason), status.next]) {
      assert.match(text, short);
      assert.match(text, next);
      assert.not.match(text, 'runner approve');
    }
    assert.is(status.plans.at(-1).approvable, false);
    const page = await run('runner-plan', ['show', stuck.id], { root });
    assert.match(page.stdout, `To approve it${next}`);
    const refused = await run('runner-apply', [stuck.id], { root });
    assert.match(refused.stderr, `0 of 1 approvals${next} (approval_required)`);
  }));

test.run();
