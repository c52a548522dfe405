import { codeHostOf } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { deployPolicyOf, maxDeployRetries, notifySettingsOf } from '@runner/common/config/settings';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { freshRoot } from '../files/scratch.ts';
import { BOT, config, HOOK, notify } from './config-text.ts';

const TELEGRAM = {
  botToken: BOT,
  chatId: '-100123',
  threadId: undefined,
  apiUrl: 'https://api.telegram.org',
};
const NOTHING = {
  channel: undefined,
  verboseErrors: true,
  telegram: undefined,
  discord: undefined,
};

test('a list of one may be a single value, whose mistakes are named without an index', () => {
  const lists = 'retry_after: [5m]\ndeploy_windows: [{ app: shop, allow: [mon-fri] }]\n';
  const single = 'retry_after: 5m\ndeploy_windows: { app: shop, allow: mon-fri }\n';
  const policy = (text: string) => JSON.stringify(deployPolicyOf(config(text)));
  assert.is(policy(single), policy(lists));
  assert.throws(
    () => deployPolicyOf(config('\ndeploy_windows: { allow: someday }\n')),
    /config\.yml:2: deploy_windows\.allow: /,
  );
});

test('without a file, with an empty one or with comments alone, everything has its default', () => {
  for (const read of [
    readConfig(freshRoot()),
    config(''),
    config('# nothing\n'),
    config('---\n'),
    config('notify:\n'),
  ]) {
    assert.equal(codeHostOf(read, {}), {
      name: 'default',
      type: 'github',
      apiUrl: 'https://api.github.com',
      gitUrl: 'https://github.com',
    });
    assert.is(maxDeployRetries(read), 3);
    const { channel, telegram, discord, verboseErrors, template } = notifySettingsOf(read, {});
    assert.equal({ channel, telegram, discord, verboseErrors }, NOTHING);
    assert.is(template('failure', 'telegram'), undefined);
  }
});

test('a credential under notify wins over the top level, an empty one switches the channel off', () => {
  const top = `telegram_bot_token: ${BOT}\ntelegram_chat_id: "1"\ndiscord_webhook: ${HOOK}\n`;
  assert.equal(notify(`${top}notify: {telegram_chat_id: "-100123"}\n`).telegram, TELEGRAM);
  assert.equal(notify(`${top}notify: {telegram_bot_token: "", discord_webhook: ''}\n`), NOTHING);
  assert.is(notify(`${top}notify: {telegram_bot_token: }\n`).telegram?.chatId, '1');
});

test('a chat id keeps every digit, in quotes or not', () => {
  for (const [written, read] of [
    ['-1001234567890123456', '-1001234567890123456'],
    ['"-1001234567890123456"', '-1001234567890123456'],
    ["'9223372036854775807'", '9223372036854775807'],
    ['9223372036854775807', '9223372036854775807'],
    ['007', '007'],
    ['"@my_channel"', '@my_channel'],
    ['-5', '-5'],
    ['" -5 "', '-5'],
  ]) {
    const text = `notify: {telegram_bot_token: "${BOT}", telegram_chat_id: ${written}}`;
    assert.is(notify(text).telegram?.chatId, read);
    const earlier = `telegram_bot_token: "${BOT}"\ntelegram_chat_id: ${written}\n`;
    assert.is(notify(earlier).telegram?.chatId, read);
  }
});

test('the environment overrides the file; an empty variable counts as unset', () => {
  const text =
    'code_host_api_url: https://one.example/\ncode_host_git_url: https://two.example/git//\n';
  assert.equal(codeHostOf(config(text), {}), {
    name: 'default',
    type: 'github',
    apiUrl: 'https://one.example',
    gitUrl: 'https://two.example/git',
  });
  const env = { RUNNER_CODE_HOST_API_URL: 'http://127.0.0.1:8080/', RUNNER_CODE_HOST_GIT_URL: '' };
  assert.equal(codeHostOf(config(text), env), {
    name: 'default',
    type: 'github',
    apiUrl: 'http://127.0.0.1:8080',
    gitUrl: 'https://two.example/git',
  });
  const telegram = `notify: {telegram_bot_token: "${BOT}", telegram_chat_id: 1, telegram_api_url: "https://t.example", telegram_thread_id: 7}`;
  assert.is(notify(telegram).telegram?.apiUrl, 'https://t.example');
  assert.is(notify(telegram).telegram?.threadId, 7);
  const chosen = notify(telegram, { RUNNER_TELEGRAM_API_URL: 'http://localhost:1' });
  assert.is(chosen.telegram?.apiUrl, 'http://localhost:1');
});

test('max_deploy_retries is read at the top level and under notify, which wins', () => {
  assert.is(maxDeployRetries(config('max_deploy_retries: 5\n')), 5);
  assert.is(maxDeployRetries(config('notify: {max_deploy_retries: 7}\n')), 7);
  assert.is(
    maxDeployRetries(config('max_deploy_retries: 5\nnotify: {max_deploy_retries: 7}\n')),
    7,
  );
  assert.is(maxDeployRetries(config('max_deploy_retries: 5\nnotify: {channel: both}\n')), 5);
});

test('unknown keys are ignored, whatever their name', () => {
  assert.equal(
    notify('other: [1, {x: 2}]\n__proto__: {channel: 1}\nnotify: {colour: red, __proto__: 1}\n'),
    NOTHING,
  );
});

test('a command checks only the keys that it uses', () => {
  const text = 'max_deploy_retries: many\nnotify: {channel: fax}\n';
  assert.is(codeHostOf(config(text), {}).apiUrl, 'https://api.github.com');
  assert.is(maxDeployRetries(config('notify: {channel: fax}\n')), 3);
});

test.run();
