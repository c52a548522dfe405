/** Records on their way through a real shell: emit, tail, send, and what stands in between. */
import { shell } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { logOf } from './log.ts';
import { bot, delivered, hook, pipeSuite, root } from './pipe.ts';

const test = pipeSuite();

test('an event of another tool is marked, passes verify and is not an interrupted deploy', async () => {
  const { status, stdout } = await shell(
    `set -e
     runner-audit emit DeploySuccess --project docs --version v9 | runner-notify send >&2
     runner-audit emit DeployStarted --project shop --version v1.2.3 >/dev/null
     echo '{"event":"DeployFailure","app":"docs","version":"v10","source":"ansible","x":{"y":[1]}}' |
       runner-audit emit >/dev/null
     for kind in DeploySuccess RollbackSuccess; do
       runner-audit emit $kind --project api --version v1 --source jenkins --timestamp 2020-01-01T00:00:00Z
     done >/dev/null
     runner audit verify >&2
     runner audit list --json | jq -r '[.project, .source, .x.y[0]] | @csv'
     runner history --json | jq -r '[.project, .result] | @csv'
     runner stats | grep recorded`,
    { root },
  );
  assert.is(status, 0);
  assert.equal(stdout.trimEnd().split('\n'), [
    '"docs","emit",',
    '"shop","emit",',
    '"docs","ansible",1',
    '"api","jenkins",',
    '"api","jenkins",',
    '"docs","success"',
    '"shop","unknown"',
    '"docs","failed"',
    '"api","success"',
    '"api","success"',
    '  outcomes:         1 succeeded, 1 failed, 1 end not recorded',
  ]);
});

test('multi-line JSON is reported once, with the fix, and the rest is accepted', async () => {
  const { status, stdout, stderr } = await shell(
    `{ jq -n '{event: "DeployFailure", app: "a", version: "v1", deep: {a: [{b: 1}]}}'
       jq -nc '{event: "DeploySuccess", app: "b", version: "v2"}'; } | runner-audit emit`,
    { root },
  );
  assert.equal([status, JSON.parse(stdout).project], [1, 'b']);
  assert.is(
    stderr,
    'runner audit emit: line 1: the event is not JSON: put one object on a line: jq -c (event_invalid)\n',
  );
});

test('a failed build is recorded and announced to both chats by two small programs', async () => {
  const { status, stdout, stderr } = await shell(
    `printf 'cc -c main.c\\nmain.c:3: error: no such thing\\nmake: *** [all] Error 2\\n' |
       runner audit emit DeployFailure --project shop --version v2 --deploy-id a1b2c3d4 --error - |
       runner notify send`,
    { root },
  );
  assert.is(stdout, delivered(['DeployFailure shop v2 [a1b2c3d4]']));
  assert.equal([status, stderr], [0, '']);
  assert.match(bot.messages[0]?.text ?? '', 'main.c:3: error: no such thing');
  assert.match(JSON.stringify(hook.messages[0]), 'main.c:3: error: no such thing');
  assert.is(JSON.parse(logOf(root)).event_type, 'DeployFailure');
});

test.run();
