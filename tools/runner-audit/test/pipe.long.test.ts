/** Records on their way through a real shell: emit, tail, send, and what stands in between. */
import { EMITTED_TYPES } from '@runner/common/audit/events';
import { shell } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { logOf } from './log.ts';
import { bot, delivered, hook, pipeSuite, root } from './pipe.ts';

const test = pipeSuite();

test('an error larger than memory keeps its head and tail, and the rest is counted', async () => {
  const { status, stdout, stderr } = await shell(
    `{ echo first; head -c 70000000 /dev/zero | tr '\\0' x | fold -w 100; echo; echo last; } |
       runner-audit emit DeployFailure --project shop --version v1 --error -`,
    { root },
  );
  assert.equal([status, stderr], [0, '']);
  const { error, truncated } = JSON.parse(stdout);
  assert.is(truncated, true);
  assert.match(error, /^first\nx{100}\n[\s\S]+\nlast\n$/);
  const [note = '', omitted] = /\n… (\d+) bytes left out …\n/.exec(error) ?? [];
  const whole = 'first\n'.length + 70_000_000 + 700_000 + '\nlast\n'.length - 1;
  assert.is(Number(omitted) + error.length - note.length, whole);
});

test('a failure without a previous version mentions no rollback', async () => {
  const record = '{"event":"DeployFailure","app":"docs","version":"v10","error":"x"}';
  const { stdout } = await shell(`echo '${record}' | runner notify preview`, { root });
  assert.match(stdout, /no previous version on record/);
  assert.not.match(stdout, /no earlier version/);
});

test('a lone bracket hides no event that follows', async () => {
  const { status, stdout, stderr } = await shell(
    `printf '%s\\n' '[' '{"event":"DeploySuccess","app":"b","version":"v2"}' '{' ']' |
       runner-audit emit`,
    { root },
  );
  assert.equal([status, JSON.parse(stdout).project], [1, 'b']);
  assert.match(stderr, /^runner audit emit: line 1: .*\nrunner audit emit: line 3: .*\n$/);
});

test('audit list takes several kinds of events', async () => {
  const { stdout, stderr } = await shell(
    `for kind in DeployStarted DeployFailure AppDown; do
       runner-audit emit $kind --project shop --version v1 >/dev/null
     done
     for count in "" "-n 5"; do
       runner audit list $count --event DeployFailure,AppDown --json | jq -r .event_type
     done
     runner audit list --event DeployFailure,Party`,
    { root },
  );
  assert.is(stdout, 'DeployFailure\nAppDown\n'.repeat(2));
  assert.match(stderr, /^error: invalid value 'Party' for '--event <EVENT>'/);
});

test('emit takes the same kinds as an argument and on standard input', async () => {
  for (const kind of EMITTED_TYPES) {
    const [option, field] = kind.startsWith('Job') ? ['--job j', ',"job":"j"'] : ['', ''];
    const { status, stdout, stderr } = await shell(
      `set -e
       runner-audit emit ${kind} --project shop --version v1 ${option} | jq -r .event_type
       echo '{"event":"${kind}","app":"shop","version":"v1"${field}}' | runner-audit emit | jq -r .event_type`,
      { root },
    );
    assert.equal([status, stdout, stderr], [0, `${kind}\n${kind}\n`, '']);
  }
});

test('the valid lines of a stream with a bad one are recorded and announced', async () => {
  const { stdout, stderr } = await shell(
    `printf '%s\\n' '{"event":"DeployStarted","app":"shop","version":"v1","deploy_id":"a1b2c3d4"}' 'nonsense' '{"event_type":"DeploySuccess","project":"shop","version":"v1","deploy_id":"a1b2c3d4"}' |
       { runner-audit emit; echo "emit $?" >&2; } | runner-notify send`,
    { root },
  );
  assert.is(
    stdout,
    delivered(['DeployStarted shop v1 [a1b2c3d4]', 'DeploySuccess shop v1 [a1b2c3d4]']),
  );
  assert.is(stderr, 'runner audit emit: line 2: the event is not JSON (event_invalid)\nemit 1\n');
  assert.equal([bot.messages.length, hook.messages.length], [2, 2]);
});

test('old records are announced again by tail, unchanged', async () => {
  await shell(
    'runner-audit emit DeployStarted --project shop --version v1 --deploy-id a1b2c3d4 >/dev/null',
    { root },
  );
  const { stdout } = await shell('runner-audit tail -n 1 --json | runner-notify send', { root });
  assert.is(stdout, delivered(['DeployStarted shop v1 [a1b2c3d4]']));
});

test('a chat that is down, or a reader that is missing, does not keep an event from the log', async () => {
  await Promise.all([bot.close(), hook.close()]);
  const emit = 'runner-audit emit DeployStarted --project shop --version v1';
  await shell(`${emit} | runner-notify send --wait 0`, { root });
  const missing = await shell(`${emit} | no-such-program; ${emit} >&-; echo "status $?"`, { root });
  assert.is(missing.stdout, 'status 0\n');
  assert.is(logOf(root).split('\n').length, 4);
});

test.run();
