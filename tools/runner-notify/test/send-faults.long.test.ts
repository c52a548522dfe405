/** What goes wrong on the way to a chat, by the built executable. */
import { join } from 'node:path';
import type { Fault } from '@runner/testing/faults';
import { findSecret } from '@runner/testing/secret-search';
import { tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Chats, event, startChats } from './chats.ts';
import { fresh, SUBJECTS } from './subjects.ts';

let chats: Chats;
test.before(async () => {
  chats = await startChats();
});
test.after(() => chats.close());

for (const [name, subject] of Object.entries(SUBJECTS)) {
  for (const [what, [fault, outcome]] of Object.entries(subject.faults)) {
    if (outcome === 'delivered') continue;
    test(`${name}: ${what} prints no secret and no address, and does not fail the command`, async () => {
      const server = fresh(subject, chats);
      chats.configure(subject.config(chats, server.url));
      server.fail(fault, 9);
      const ended = await chats.send([event('DeployStarted')], ['--wait', '0', '--json']);
      assert.is(ended.status, 0);
      const { result } = JSON.parse(ended.stdout);
      const later = result === 'queued' ? ' yet, it stays queued' : '';
      assert.match(
        ended.stderr,
        `runner notify send: ${name}: DeployStarted of shop was not delivered${later}: `,
      );
      const spooled = JSON.stringify(tree(join(chats.root, 'spool')));
      assert.match(spooled, 'DeployStarted');
      assert.not.match(ended.stdout + ended.stderr, server.url);
      for (const secret of subject.secrets(chats)) {
        assert.equal(findSecret(ended.stdout + ended.stderr + spooled, secret), []);
      }
    });
  }

  const { echo } = subject;
  if (echo)
    test(`${name}: a service that echoes the secret cannot make it be printed`, async () => {
      const server = fresh(subject, chats);
      chats.configure(subject.config(chats, server.url));
      for (const secret of subject.secrets(chats)) {
        chats.forget();
        server.fail(echo(secret));
        const ended = await chats.send([event('DeployStarted')], ['--json']);
        assert.equal(findSecret(ended.stdout + ended.stderr, secret), []);
        assert.match(ended.stdout, /no \[REDACTED\]/);
      }
    });

  if (!subject.noHttp)
    test(`${name}: a redirect is not followed, so that the secret stays here`, async () => {
      const server = fresh(subject, chats);
      const elsewhere = await startChats();
      const other = subject.server(elsewhere);
      chats.configure(subject.config(chats, server.url));
      server.fail({ redirect: other.url, status: 307 });
      const ended = await chats.send([event('DeployStarted')], ['--json', '--wait', '0']);
      assert.is(JSON.parse(ended.stdout).result, 'queued');
      assert.equal([server.requests.length, other.requests.length], [1, 0]);
      await elsewhere.close();
    });

  test(`${name}: a port where nothing listens is tried again, and the message stays queued`, async () => {
    chats.forget();
    chats.configure(subject.config(chats, 'http://127.0.0.1:1'));
    const ended = await chats.send([event('DeployStarted')], ['--json', '--wait', '0.6']);
    const { result, http_status, code, retryable, hint } = JSON.parse(ended.stdout);
    assert.equal(
      { result, http_status, code, retryable },
      { result: 'queued', http_status: null, code: 'ECONNREFUSED', retryable: true },
    );
    assert.match(hint, /^check the server's network, and /);
    assert.is(ended.status, 0);
  });

  test(`${name}: trouble that passes is waited for, and the order is kept`, async () => {
    const server = fresh(subject, chats);
    chats.configure(subject.config(chats, server.url));
    const { faults, maybe } = subject.trouble ?? {
      faults: ['drop', 'html'] as const,
      maybe: ', maybe twice',
    };
    for (const fault of faults) server.fail(fault);
    const ended = await chats.send(
      [event('DeployFailure', { error: 'x\n'.repeat(900) }), event('RollbackSuccess')],
      ['--wait', '12'],
    );
    const parts = subject.wholeLog ? ['failed'] : ['failed', 'error lo'];
    const count = parts.length === 1 ? '1 message' : `${parts.length} messages`;
    assert.match(
      ended.stdout,
      new RegExp(`^delivered .*, ${count}${maybe}\\ndelivered .*, 1 message\\n$`),
    );
    assert.is(server.requests.length, 3 + parts.length);
    const order = server.messages.map(
      ({ payload }) =>
        /failed|error log|Rollback(?:"|\*?\\n|: `?shop)/.exec(JSON.stringify(payload))?.[0],
    );
    assert.equal(
      order.map((word) => word?.slice(0, 8)),
      [...parts, 'Rollback'],
    );
  });

  if (!subject.noHttp)
    test(`${name}: a wait that fits is kept, one that does not leaves this record and the next one queued`, async () => {
      const server = fresh(subject, chats);
      chats.configure(subject.config(chats, server.url));
      const [short] = subject.faults['429 for a second'] as readonly [Fault, string];
      server.fail(short);
      const patient = await chats.send([event('DeployStarted')], ['--json']);
      assert.is(JSON.parse(patient.stdout).result, 'delivered');
      assert.is(server.requests.length, 2);
      chats.forget();
      server.fail(short);
      const hasty = await chats.send(
        [event('DeployStarted'), event('DeploySuccess')],
        ['--json', '--wait', '0.2'],
      );
      const results = hasty.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.equal(
        results.map(({ result, http_status, retryable }) => [result, http_status, retryable]),
        [
          ['queued', 429, true],
          ['queued', 429, true],
        ],
      );
      assert.is(server.requests.length, 3);
      assert.match(
        hasty.stderr,
        /was not delivered yet, it stays queued: .* \((?:\d+, )?asks to wait 1 s\)/,
      );
    });
}

test('a destination that is gone is called once, whatever comes after', async () => {
  const gone = await startChats();
  gone.bot.revoke();
  gone.hook.remove();
  const ended = await gone.send(
    [event('DeployStarted'), event('DeploySuccess'), event('RollbackSuccess')],
    ['--json', '--strict'],
  );
  assert.is(ended.status, 1);
  assert.equal([gone.bot.requests.length, gone.hook.requests.length], [1, 1]);
  const results = ended.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(
    results.map(({ channel, result, code }) => [channel, result, code]),
    [
      ['telegram', 'rejected', 401],
      ['discord', 'rejected', 10015],
      ['telegram', 'rejected', 401],
      ['discord', 'rejected', 10015],
      ['telegram', 'rejected', 401],
      ['discord', 'rejected', 10015],
    ],
  );
  await gone.close();
});

test("Discord's own rate limits are kept automatically: a dozen messages arrive without a refusal", async () => {
  const timed = await startChats({ rates: 1 });
  const records = Array.from({ length: 12 }, (_, index) =>
    event('DeployStarted', { version: `v${index}` }),
  );
  const ended = await timed.send(records, ['--channel', 'discord']);
  assert.is(ended.status, 0);
  assert.equal(
    timed.hook.messages.map(({ content }) => /v\d+/.exec(content)?.[0]),
    records.map(({ version }) => version),
  );
  assert.ok(timed.hook.requests.every(({ status }) => status === 200));
  await timed.close();
});

test('a chat that fails does not keep the other from being told', async () => {
  chats.configure();
  chats.forget();
  chats.bot.heal();
  chats.hook.heal();
  chats.bot.fail('drop', 99);
  const ended = await chats.send([event('DeployStarted')], ['--json', '--wait', '0']);
  chats.bot.heal();
  const results = ended.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(
    results.map(({ channel, result }) => [channel, result]),
    [
      ['telegram', 'queued'],
      ['discord', 'delivered'],
    ],
  );
});

test.run();
