import { startOnTerminal } from '@runner/testing/terminal';
import * as assert from 'uvu/assert';
import { chats, chatsSuite, configOf, event } from './chats.ts';
import { preview, records } from './preview-command.ts';

const test = chatsSuite();

test('on a terminal it shows the samples without waiting for input', async () => {
  const session = startOnTerminal('runner-notify', ['preview', '--channel', 'discord'], {
    root: chats.root,
    columns: 240,
  });
  assert.is((await session.done).status, 0);
  assert.match(
    session.text(),
    /discord POST webhook: DeployStarted \[[0-9a-f]{8}\]\r\n\{\r\n {2}"content"/,
  );
});

test('no credentials are needed, and the channel is chosen by --channel', async () => {
  chats.configure('');
  assert.is(records((await preview(['--json'])).stdout).length, 6 * 26 - 1);
  const shown = records((await preview(['--json', '--channel', 'telegram'])).stdout);
  assert.equal([...new Set(shown.map(({ channel }) => channel))], ['telegram']);
  assert.is(shown[0].payload.chat_id, undefined);
});

test('templates are used, and a wrong one is reported by name', async () => {
  chats.configure(
    configOf(chats.bot, chats.hook, 't', ['templates: {started: {telegram: "go ${PROJECT}"}}']),
  );
  const [first] = records((await preview(['--json'])).stdout);
  assert.match(first.payload.text, /^go shop\n/);
  chats.configure(
    configOf(chats.bot, chats.hook, 't', ['templates: {started: {telegram: "${project}"}}']),
  );
  const ended = await preview(['--json']);
  assert.is(ended.status, 0);
  assert.match(records(ended.stdout)[0].payload.text, 'Deploy started');
  assert.match(
    ended.stderr,
    /^runner notify preview: .*config\.yml:\d+: notify\.templates\.started\.telegram: the template has the unknown variable \$\{project\} .*; the built-in text is sent\n$/,
  );
});

test('a line that is not a record is reported by number, and the status is 1', async () => {
  const stdin = `nonsense\n${JSON.stringify(event('DeployStarted'))}\n`;
  const ended = await preview(['--channel', 'telegram'], { stdin });
  assert.is(ended.status, 1);
  assert.is(ended.stderr, 'runner notify preview: line 1: it is not a JSON object\n');
  assert.match(ended.stdout, /^telegram sendMessage: DeployStarted \[a1b2c3d4\]\n\{\n/);
});

test('records that are all of other kinds are no reason to show samples', async () => {
  const ended = await preview([], { stdin: '{"event":"GuardBypassed","app":"shop"}\n' });
  assert.equal([ended.status, ended.stdout, ended.stderr], [0, '', '']);
});

test.run();
