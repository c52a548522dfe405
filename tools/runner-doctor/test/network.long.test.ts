import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSilent } from 'node:net';
import { freePort } from '@runner/testing/app';
import { startCodeHost } from '@runner/testing/code-host';
import { run, shell, shellWord } from '@runner/testing/run';
import { startTelegram } from '@runner/testing/telegram';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { examined, put, registered, TOKEN, type Told } from './patient.ts';

test('a code host that accepts the token and has the same time is fine', async () => {
  const host = await startCodeHost({ tokens: { [TOKEN]: { login: 'octo', scopes: ['repo'] } } });
  try {
    const root = await registered();
    const env = { RUNNER_CODE_HOST_API_URL: host.apiUrl };
    const { troubles, findings } = await examined(root, { env }, []);
    assert.equal(troubles, []);
    const told = Object.fromEntries(findings.map(({ check, message }) => [check, message]));
    assert.is(told.tokens, 'the token is accepted by the code host');
    assert.is(told.clock, 'the code host answers, and the clocks agree');
    assert.is(told.chats, 'no chat is configured; no notification is sent');
  } finally {
    await host.close();
  }
});

test('--offline contacts no service and says what was left out', async () => {
  const root = await registered();
  const env = { RUNNER_CODE_HOST_API_URL: `http://127.0.0.1:${await freePort()}` };
  const { stdout } = await run('runner-doctor', ['--offline', '--json'], { root, env });
  assert.equal(JSON.parse(stdout).skipped, ['tokens', 'chats', 'clock', 'updates']);
  assert.equal((await examined(root, { env })).troubles, []);
});

test('a code host that no app uses is no problem while it cannot be reached', async () => {
  const root = temporaryFolder('doctor');
  const env = { RUNNER_CODE_HOST_API_URL: `http://127.0.0.1:${await freePort()}` };
  const { troubles } = await examined(root, { env }, []);
  const clock = troubles.filter((each) => each.includes(' clock: '));
  assert.is(clock.length, 1);
  assert.match(String(clock), /^warning clock: the code host \S+ cannot be reached/);
});

test('a token that is refused or expires soon is reported, and never shown', async () => {
  const soon = new Date(Date.now() + 3.5 * 86_400_000).toISOString();
  const expires = `${soon.slice(0, 10)} ${soon.slice(11, 19)} UTC`;
  const host = await startCodeHost({
    tokens: { [TOKEN]: { login: 'octo', scopes: null, expires } },
  });
  try {
    const root = await registered();
    const env = { RUNNER_CODE_HOST_API_URL: host.apiUrl };
    const ending = await examined(root, { env }, []);
    assert.is(ending.troubles.length, 1);
    assert.match(
      String(ending.troubles),
      /^warning tokens: the token tk_[0-9a-f]{4}…[0-9a-f]{4} of shop expires in 3 days$/,
    );
    host.revoke(TOKEN);
    const refused = await examined(root, { env }, []);
    assert.is(refused.troubles.length, 1);
    assert.match(
      String(refused.troubles),
      /^problem tokens: the code host refused the token tk_\S+ of 'shop' \(401: Bad credentials\)$/,
    );
    assert.is(
      refused.findings.find(({ level }) => level === 'problem')?.fix,
      'runner edit shop --token -',
    );
    assert.not.ok(JSON.stringify([ending, refused]).includes(TOKEN));
    const more = ['--repo', 'acme/blog', '--branch', 'main', '--token-from', 'shop'];
    assert.is((await run('runner-add', more, { root })).status, 0);
    const fresh = 'fresh-token-0123456789';
    host.allow(fresh, { login: 'octo', scopes: null });
    const fix = 'runner edit blog --token - && runner edit shop --token-from blog';
    const mendOf = (told: Told) => told.findings.find(({ check }) => check === 'tokens')?.fix;
    assert.is(mendOf(await examined(root, { env }, [])), fix);
    const unnamed = { env: { ...env, RUNNER_ROOT: undefined } };
    assert.is(
      mendOf(await examined(root, unnamed, ['--root', root])),
      `runner edit blog --token - --root ${shellWord(root)} && runner edit shop --token-from blog --root ${shellWord(root)}`,
    );
    assert.is((await shell(fix, { root, stdin: fresh })).status, 0);
    assert.equal((await examined(root, { env }, [])).troubles, []);
  } finally {
    await host.close();
  }
});

test('a code host without the GitHub API is a warning: deploys work', async () => {
  const root = await registered();
  const host = await startCodeHost({ tokens: {} });
  // For the checks of tokens and of the clock, whichever comes first.
  host.fail({ status: 404, body: 'not found' }, 2);
  const env = { RUNNER_CODE_HOST_API_URL: host.apiUrl };
  const { troubles } = await examined(root, { env }, []);
  await host.close();
  assert.equal(troubles.length, 1, troubles.join('\n'));
  assert.match(
    troubles[0] ?? '',
    /^warning tokens: .* could not be tested: the code host answered 404: it has no GitHub API, or code_host_api_url is wrong$/,
  );
});

test('a code host that does not answer is reported for the tokens and for itself', async () => {
  const root = await registered();
  const port = await freePort();
  const env = { RUNNER_CODE_HOST_API_URL: `http://127.0.0.1:${port}` };
  const { troubles } = await examined(root, { env }, []);
  const refused = `connection refused (connect ECONNREFUSED 127.0.0.1:${port})`;
  assert.is(troubles.length, 2);
  assert.match(
    troubles[0] ?? '',
    /^problem tokens: the token tk_\S+ of shop could not be tested: /,
  );
  assert.is(
    troubles[1],
    `problem clock: the code host http://127.0.0.1:${port} cannot be reached: ${refused}`,
  );
});

test('a code host that hangs delays it no longer than its time limits', async () => {
  const root = await registered();
  const silent = createSilent(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', () => resolve()));
  const { port } = silent.address() as AddressInfo;
  try {
    const env = { RUNNER_CODE_HOST_API_URL: `http://127.0.0.1:${port}` };
    const { troubles } = await examined(root, { env }, []);
    assert.is(troubles.length, 2);
    for (const trouble of troubles) assert.match(trouble, /no complete answer within 10 s$/);
  } finally {
    silent.close();
  }
});

test('a clock that differs from the code host is reported, with amount and direction', async () => {
  const root = temporaryFolder('doctor');
  for (const [offset, expected] of [
    [-120, /^warning clock: this clock is 1[12]\d s ahead of the code host's$/],
    [3_600, /^problem clock: this clock is 3(?:59|60)\d s behind the code host's$/],
  ] as const) {
    const server = createServer((_, response) => {
      response.setHeader('date', new Date(Date.now() + offset * 1000).toUTCString());
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    const { port } = server.address() as AddressInfo;
    const env = { RUNNER_CODE_HOST_API_URL: `http://127.0.0.1:${port}` };
    const { troubles } = await examined(root, { env }, []);
    server.close();
    server.closeAllConnections();
    assert.is(troubles.length, 1);
    assert.match(troubles[0] ?? '', expected);
  }
});

test('a chat that is half configured or unreachable is reported', async () => {
  const host = await startCodeHost({ tokens: {} });
  try {
    const root = temporaryFolder('doctor');
    const env = {
      RUNNER_CODE_HOST_API_URL: host.apiUrl,
      RUNNER_TELEGRAM_API_URL: `http://127.0.0.1:${await freePort()}`,
    };
    put(root, 'config.yml', 'notify:\n  telegram_chat_id: "-100123"\n');
    const half = await examined(root, { env }, []);
    assert.equal(half.troubles, ['warning chats: telegram lacks telegram_bot_token']);
    put(
      root,
      'config.yml',
      'notify:\n  telegram_chat_id: "-100123"\n  telegram_bot_token: "123:abcdefghijklmnopqrstuvwxyz"\n',
    );
    const silent = await examined(root, { env }, []);
    assert.is(silent.troubles.length, 1);
    assert.match(silent.troubles[0] ?? '', /^problem chats: telegram does not accept messages/);
    assert.not.ok(JSON.stringify(silent).includes('abcdefghijkl'));
    const mendOf = (told: Told) => told.findings.find(({ check }) => check === 'chats')?.fix;
    assert.is(mendOf(silent), 'runner notify status');
    const telegram = await startTelegram({ token: '123:abcdefghijklmnopqrstuvwxyz' });
    telegram.revoke();
    const answers = { ...env, RUNNER_TELEGRAM_API_URL: telegram.url };
    const refused = await examined(root, { env: answers }, []);
    await telegram.close();
    assert.equal(refused.troubles, [
      'problem chats: telegram does not accept messages: Unauthorized',
    ]);
    assert.is(mendOf(refused), 'runner notify setup --channel telegram');
    put(root, 'config.yml', 'notify: {channel: smoke}\ncode_host_api_url: []\n');
    const broken = await examined(root, { env: {} }, []);
    assert.ok(
      broken.troubles.includes(
        'warning clock: the code host cannot be checked: config.yml is not valid',
      ),
    );
    assert.ok(
      broken.troubles.some((each) =>
        each.startsWith('problem chats: the chats could not be checked: '),
      ),
    );
  } finally {
    await host.close();
  }
});

test.run();
