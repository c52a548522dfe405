/** Records on their way through a real shell: emit, tail, send, and what stands in between. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EMITTED_TYPES } from '@runner/common/audit/events';
import { type Discord, startDiscord } from '@runner/testing/discord';
import { shell } from '@runner/testing/run';
import { startTelegram, type Telegram } from '@runner/testing/telegram';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { logOf } from './log.ts';

const BOT_TOKEN = '123456789:AAE-bOwk6ad9r_QXMENQjcrGbqCr4Kbotte';
const CHAT_ID = -1001234567890;

let root: string;
let bot: Telegram;
let hook: Discord;
test.before.each(async () => {
  root = temporaryFolder('pipe');
  const chats = [{ id: CHAT_ID, type: 'supergroup', title: 'Deploys' }] as const;
  [bot, hook] = await Promise.all([startTelegram({ token: BOT_TOKEN, chats }), startDiscord()]);
  writeFileSync(
    join(root, 'config.yml'),
    `notify:
  telegram_bot_token: "${BOT_TOKEN}"
  telegram_chat_id: ${CHAT_ID}
  telegram_api_url: ${bot.url}
  discord_webhook: ${hook.webhook}
`,
    { mode: 0o600 },
  );
});
test.after.each(async () => {
  await Promise.all([bot.close(), hook.close()]);
});

const delivered = (events: readonly string[]) =>
  events
    .flatMap((event) =>
      ['telegram', 'discord '].map((channel) => `delivered  ${channel}  ${event}, 1 message\n`),
    )
    .join('');

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
  assert.match(stderr, /^error: invalid value 'DeployFailure,Party' for '--event <EVENT>'/);
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
