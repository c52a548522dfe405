import { executable, run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { asSudo, planned } from './person.ts';

const test = suite('who approves');

/** Forged: none of them counts. */
const LIES = {
  SUDO_USER: 'ada',
  SUDO_UID: '1',
  LOGNAME: 'ada',
  USER: 'ada',
  RUNNER_INITIATOR: 'ada',
};

test('an approval is that of the user who called sudo, whatever the environment says', () =>
  planned('{ deploy: 2, by: [daemon, bin, ada] }', async ({ root, kinds }, id) => {
    const line = `${executable('runner-approve')} ${id} --no-apply --root ${root}`;
    const plain = await run('runner-approve', [id], { root, env: LIES });
    assert.is(plain.status, 1);
    assert.match(plain.stderr, `root may not approve ${id}: config.yml lists daemon, bin, ada`);
    const forged = asSudo(3, line, LIES);
    assert.is(forged.status, 1);
    assert.match(forged.stderr, 'sys may not approve');
    const first = asSudo(1, line, LIES);
    assert.is(first.status, 0, first.stderr);
    assert.match(first.stdout, 'by daemon; waits for approval');
    assert.match(asSudo(1, line).stderr, `daemon has approved ${id} already`);
    assert.is(asSudo(2, line, { RUNNER_GRANT: 'helper' }).status, 1);
    assert.match(asSudo(2, line).stdout, 'by daemon, bin; runner apply');
    assert.equal(kinds().filter((kind) => kind === 'PlanApproved').length, 2);
  }));

test.run();
