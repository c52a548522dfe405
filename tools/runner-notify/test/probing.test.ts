/** The contract of the probes: what asks a service never throws and never reports a secret. */
import { CHANNEL_NAMES } from '@runner/common/config/channels';
import { findSecret } from '@runner/testing/secret-search';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, type Chats, startChats } from './chats.ts';
import { fresh, open, SUBJECTS } from './subjects.ts';

let chats: Chats;
test.before(async () => {
  chats = await startChats();
});
test.after(() => chats.close());

for (const name of CHANNEL_NAMES) {
  const subject = SUBJECTS[name];
  const secretless = (value: unknown) => {
    for (const secret of subject.secrets(chats))
      assert.equal(findSecret(JSON.stringify(value), secret), []);
  };

  test(`${name}: a healthy destination is reported as healthy, without a secret and without a message`, async () => {
    const server = fresh(subject, chats);
    const inspection = await open(name, chats).inspect();
    assert.is(inspection.healthy, subject.noProbe ? null : true);
    assert.is(inspection.problem, undefined);
    assert.is(server.messages.length, 0);
    secretless(inspection);
  });

  test(`${name}: a test notification is one message`, async () => {
    const server = fresh(subject, chats);
    const trial = await open(name, chats).sendTest();
    assert.is(trial.class, 'delivered');
    assert.is(server.messages.length, 1);
    secretless(trial);
  });

  for (const [what, [fault, outcome]] of Object.entries(subject.faults)) {
    test(`${name}: ${what} is reported by both, without a secret`, async () => {
      const server = fresh(subject, chats);
      server.fail(fault, Number.POSITIVE_INFINITY);
      const inspection = await open(name, chats).inspect();
      const trial = await open(name, chats).sendTest();
      assert.is(inspection.healthy, subject.noProbe ? null : false);
      assert.is((inspection.problem?.description.length ?? 0) > 0, !subject.noProbe);
      assert.is(trial.class, outcome);
      if (trial.class !== 'delivered')
        assert.is(trial.problem.retryable, outcome === 'retry' || outcome === 'wait');
      secretless([inspection, trial]);
      // Each is one attempt.
      assert.is(server.requests.length, subject.noProbe ? 1 : 2);
    });
  }
}

test('a secret that a service repeats is taken out of its words', async () => {
  const server = fresh(SUBJECTS.telegram, chats);
  const description = `Bad Request: ${BOT_TOKEN} is strange`;
  server.fail({ status: 400, body: { ok: false, error_code: 400, description } });
  const { problem } = await open('telegram', chats).inspect();
  assert.is(problem?.description, 'Bad Request: [REDACTED] is strange');
});

test.run();
