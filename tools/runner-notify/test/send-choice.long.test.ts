import * as assert from 'uvu/assert';
import { chats, chatsSuite, configOf, event, registerApp } from './chats.ts';
import { TOLD } from './send-choice.ts';

const test = chatsSuite();

/** Which channels are set up, the global `channel`, `.deploy.yml`, `--channel`, and which channels are used. */
const CASES: readonly (readonly [string, string, string | null | undefined, string, string])[] = [
  ['td', '', undefined, '', 'td'],
  ['td', '', 'notify: { channel: telegram }\n', '', 't'],
  ['td', '', 'notify: { channel: discord }\n', '', 'd'],
  ['td', '', 'notify: { channel: both }\n', '', 'td'],
  ['td', '', 'notify: {}\n', '', 'td'],
  ['td', '', 'keep: 3\n', '', ''],
  ['td', '', null, '', ''],
  ['td', '', 'keep: 3\n', 'both', 'td'],
  ['td', '', 'notify: { channel: telegram }\n', 'discord', 'd'],
  ['td', '', 'notify: {}\n', 'none', ''],
  ['td', 'discord', 'notify: {}\n', '', 'd'],
  ['td', 'discord', 'notify: { channel: telegram }\n', '', ''],
  ['td', 'telegram', undefined, 'both', 't'],
  ['t', '', 'notify: { channel: discord }\n', '', ''],
  ['d', 'both', 'notify: {}\n', '', 'd'],
  ['t', '', undefined, 'both', 't'],
  ['d', '', 'notify: { channel: telegram }\n', '', ''],
];

for (const [setUp, global, deployFile, asked, told] of CASES) {
  const file = deployFile === undefined ? 'no release' : (deployFile?.trim() ?? 'no .deploy.yml');
  test(`set up '${setUp}', channel '${global}', ${file}, --channel '${asked}': '${told}' is notified`, async () => {
    chats.configure(configOf(chats.bot, chats.hook, setUp, global ? [`channel: ${global}`] : []));
    registerApp(chats.root, 'shop', deployFile, 'prod-1');
    const ended = await chats.send([event('DeployStarted')], asked ? ['--channel', asked] : []);
    const [, named = ''] = /channel: (telegram|discord)/.exec(deployFile ?? '') ?? [];
    const isLost = asked === '' && named !== '' && told === '';
    assert.is(ended.status, 0);
    assert.match(ended.stderr, isLost ? `runner notify send: ${named} is not active: ` : /^$/);
    const heard = `${'t'.repeat(chats.bot.messages.length)}${'d'.repeat(chats.hook.messages.length)}`;
    assert.is(heard, told);
  });
}

test('a .deploy.yml that cannot be read is reported, and every active channel announces', async () => {
  registerApp(chats.root, 'shop', 'notify: 7\n', 'prod-1');
  const ended = await chats.send([event('DeployStarted'), event('DeploySuccess')]);
  assert.is(ended.status, 0);
  const problem = '.deploy.yml:1: notify: must be a section, not a single value';
  assert.is(ended.stderr, `runner notify send: shop: ${problem}; ${TOLD}\n`);
  assert.equal([chats.bot.messages.length, chats.hook.messages.length], [2, 2]);
});

for (const name of ['../../shop', '..', '/etc', '__proto__', 'a/b', 'x\u0000y', '-x']) {
  test(`a record of '${JSON.stringify(name)}' reads no file by that name`, async () => {
    const ended = await chats.send([event('DeployStarted', { project: name, instance: name })]);
    assert.equal([ended.status, ended.stderr], [0, '']);
    assert.equal([chats.bot.messages.length, chats.hook.messages.length], [1, 1]);
  });
}

test.run();
