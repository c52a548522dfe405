import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { chats, chatsSuite, event } from './chats.ts';
import { flush, only, queued } from './flush.ts';

const test = chatsSuite();

test('a restart with messages queued: flush delivers them in order, and then is quiet', async () => {
  only('d');
  chats.hook.fail('drop', 99);
  await chats.send([event('DeployStarted'), event('DeploySuccess')], ['--wait', '0']);
  chats.hook.heal();
  const ended = await flush('--now');
  assert.equal(
    [ended.status, ended.stdout],
    [
      0,
      'delivered  discord   DeployStarted shop v1.3.0 [a1b2c3d4], 1 message, maybe twice\ndelivered  discord   DeploySuccess shop v1.3.0 [a1b2c3d4], 1 message\n',
    ],
  );
  assert.equal(
    chats.hook.messages.map(({ content }) => /started|completed/.exec(content)?.[0]),
    ['started', 'completed'],
  );
  assert.equal([(await flush()).stdout, queued()], ['', 0]);
});

test('what is refused is reported with its reason and put aside, and the status is 0', async () => {
  only('d');
  chats.hook.fail('html', 9);
  await chats.send([event('DeployStarted')], ['--wait', '0']);
  chats.hook.heal();
  chats.hook.remove();
  const ended = await flush('--now', '--json');
  const { result, code, messages, queue_id } = JSON.parse(ended.stdout);
  assert.equal([ended.status, result, code, messages], [0, 'rejected', 10015, 0]);
  assert.match(readdirSync(join(chats.root, 'spool/notify/dead')).join(), queue_id);
});

test('what is not delivered for now is reported with its reason, also after --now', async () => {
  only('d');
  chats.hook.fail({ status: 500, body: {} }, 99);
  await chats.send([event('DeployStarted')], ['--wait', '0']);
  for (const args of [['--now'], []]) {
    const { status, stdout, stderr } = await flush(...args);
    assert.equal([status, stdout, queued()], [0, '', 1]);
    assert.match(
      stderr,
      /^runner notify flush: discord: 1 message stays queued: .*500.*; the next try is in \d+ s\n$/,
    );
  }
});

test('after a crash between the two messages of a failure only the missing one is sent', async () => {
  only('d');
  chats.hook.fail({ slow: 0 });
  chats.hook.fail('hang');
  // The process that sends; `send` itself leaves it running when it is killed.
  const running = start('runner-notify', ['send'], {
    root: chats.root,
    env: { RUNNER_APART: '1' },
  });
  running.stdin.write(`${JSON.stringify(event('DeployFailure', { error: 'x\n'.repeat(900) }))}\n`);
  await until(() => chats.hook.requests.length >= 2, 'no second request');
  running.kill('SIGKILL');
  await running.done;
  const ended = await flush('--json');
  const { result, messages, maybe_duplicate } = JSON.parse(ended.stdout);
  assert.equal([result, messages, maybe_duplicate], ['delivered', 2, true]);
  assert.equal(
    chats.hook.messages.map(({ content }) => /failed|error log/.exec(content)?.[0]),
    ['failed', 'error log'],
  );
});

test.run();
