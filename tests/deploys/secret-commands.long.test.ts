/** A registered token in a command, an answer or a commit message: it is shown and kept nowhere. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { startDiscord } from '@runner/testing/discord';
import { CHAT_ID } from '@runner/testing/hosts';
import { run } from '@runner/testing/run';
import { findBytes } from '@runner/testing/secret-search';
import { startTelegram } from '@runner/testing/telegram';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { impatient, makeWorld } from './world.ts';

/** Not as any code host makes them: only the state of the app shows that it is a secret. */
const ODD = 'Zx81-own-host-access-4f1c09';
const BOT = '123456789:AAE-bOwk6ad9r_QXMENQjcrGbqCr4Kbotte';

/** Answers every health check with the token. */
const ANSWERS = `require('node:http').createServer((_, response) => {
  response.statusCode = 503;
  response.end('x'.repeat(2030) + ' ${ODD}');
}).listen(Number(process.env.PORT), '127.0.0.1');`;

const SILENT = `seq 1 400; : ${ODD}; exit 4`;

test('a token in a failing command, an answer or a commit is shown and kept nowhere', async () => {
  const world = await makeWorld({ token: ODD });
  const [telegram, discord] = await Promise.all([
    startTelegram({ token: BOT, chats: [{ id: CHAT_ID, type: 'supergroup', title: 'Deploys' }] }),
    startDiscord(),
  ]);
  appendFileSync(
    join(world.root, 'config.yml'),
    `notify: { telegram_bot_token: "${BOT}", telegram_chat_id: "${CHAT_ID}", telegram_api_url: "${telegram.url}", discord_webhook: "${discord.webhook}" }\n`,
  );
  const cases = {
    build: `build: { run: "${SILENT}" }`,
    hook: `hooks: { pre_switch: "${SILENT}" }`,
    start: `start: { type: command, run: "${SILENT}" }`,
    health: `start: { type: command, run: "true" }\nhealth: { cmd: "${SILENT}", within: 200ms, interval: 50ms }`,
    answer: impatient(world.port),
  };
  for (const [name, deploy] of Object.entries(cases)) {
    await world.push(name, { deploy: `${deploy}\nnotify: {}\n`, files: { 'server.js': ANSWERS } });
    for (const args of [['--check'], [], ['--json'], ['--verbose']]) {
      const done = await world.deploy(args);
      assert.is(done.status, args[0] === '--check' ? 0 : 1, done.stderr);
      assert.not.match(done.stdout + done.stderr, ODD, `${name} ${args}`);
    }
  }
  const shown = await run('runner-debug', ['last-error', 'shop'], { root: world.root });
  assert.not.match(shown.stdout, ODD);
  const failures = world.events().filter(({ event_type: kind }) => kind === 'DeployFailure');
  const headline = 'seq 1 400; : [REDACTED]; exit 4';
  assert.ok(String(failures[0]?.error).startsWith(`build: \`${headline}\` ended with status 4`));
  assert.match(String(failures[0]?.cause), headline);
  const kept = ['state', 'logs', 'spool'].flatMap((each) => findBytes(join(world.root, each), ODD));
  assert.equal(kept, []);
  const sent = JSON.stringify([telegram.messages, discord.messages]);
  assert.match(sent, 'REDACTED');
  assert.not.match(sent, ODD);
  await Promise.all([world.close(), telegram.close(), discord.close()]);
});

test('a process that cannot be stopped is reported without the token in its command', async () => {
  const world = await makeWorld({ token: ODD });
  const deploy = `start: { type: command, run: "true" }\nstop: ": ${ODD}; exit 4"\n`;
  await world.launch('v1', { deploy });
  for (const format of [[], ['--json']]) {
    const { stdout, stderr } = await run('runner-remove', ['shop', '--yes', ...format], {
      root: world.root,
    });
    assert.not.match(stdout + stderr, ODD);
  }
  await world.close();
});

test.run();
