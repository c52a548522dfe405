/**
 * Sixty secrets, which builds print in every encoding, are in no output, file, message, argument or
 * environment.
 */
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGitServer } from '@runner/testing/git-server';
import { watchProcesses } from '@runner/testing/proc-watch';
import { run } from '@runner/testing/run';
import { pathsBelow, temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DUMPS, ENCODINGS, leftOf } from '../../libs/common/test/secrets/encodings.ts';
import { bytes, startRawHost } from './raw-host.ts';

const APPS = 56;
const CALLS = [
  ['runner-list', '--json'],
  ['runner-fetch'],
  ['runner-tokens', 'list'],
  ['runner-audit', 'tail', '-n', '500', '--json'],
  ['runner-notify', 'status'],
  ['runner-doctor', '--offline'],
] as const;

/** Of no shape that is known, as long as those that hosts issue. */
function secretOf(number: number): string {
  const hash = process
    .getBuiltinModule('node:crypto')
    .hash('sha512', `secret ${number}`, 'base64url');
  return hash.slice(0, 40 + (number % 44));
}

test('sixty secrets printed by builds are shown nowhere', async () => {
  const root = join(temporaryFolder('leaks'), 'root');
  const printed = temporaryFolder('printed');
  mkdirSync(root);
  const git = await startGitServer({ token: secretOf(0) });
  const chat = await startRawHost(
    bytes('HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\n{"ok":true,"result":{"message_id":12345}}'),
  );
  const [bot, hook] = [`4711${secretOf(57).slice(0, 35)}`, secretOf(58)];
  const config = [
    `code_host_git_url: ${git.url}`,
    'retry_after: [0s]',
    `notify: { telegram_bot_token: "471112345:${bot}", telegram_chat_id: "-1001234567890", telegram_api_url: "http://127.0.0.1:${chat.port}", discord_webhook: "http://127.0.0.1:${chat.port}/api/webhooks/123456789/${hook}" }`,
    '',
  ].join('\n');
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  await git.createRepo('acme/all');
  const deploy = `build: 'cat "${printed}/$RUNNER_APP"; exit $((\${#RUNNER_APP} % 2))'\nnotify: {}\n`;
  await git.commit('acme/all', { '.deploy.yml': deploy }, 'all');
  const apps = Array.from({ length: APPS }, (_, number) => `app${number}${number % 3 ? 'x' : ''}`);
  const add = ['--repo', 'acme/all', '--branch', 'main', '--token', '-', '--name'];
  for (const [number, app] of apps.entries()) {
    git.allow(secretOf(number));
    const added = await run('runner-add', [...add, app], { root, stdin: secretOf(number) });
    assert.is(added.status, 0, added.stderr);
  }
  const older = Buffer.alloc(32, 'key').toString('base64url');
  appendFileSync(join(root, 'mkey'), `${older}\n`);
  const [key = ''] = readFileSync(join(root, 'mkey'), 'utf8').split('\n');
  const common = [key, older, bot, hook];
  const encodings = Object.values({ ...ENCODINGS, ...DUMPS });
  for (const [number, app] of apps.entries()) {
    const secrets = [secretOf(number), ...common];
    const text = secrets.flatMap((secret) =>
      encodings.map((encode) => `${encode(`x=${secret};`)}\n--\n`),
    );
    writeFileSync(join(printed, app), text.join(''));
  }
  const all = [...apps.map((_, number) => secretOf(number)), ...common];
  const { value: said, sightings } = await watchProcesses(all, async () => {
    const outputs: string[] = [];
    const call = async (tool: string, ...args: string[]) => {
      const { stdout, stderr } = await run(tool, args, { root, timeout: 900_000 });
      outputs.push(stdout, stderr);
    };
    await call('runner-fetch', '--deploy');
    await call('runner-deploy', apps[1] as string, '-v');
    for (const [tool, ...args] of CALLS) await call(tool, ...args);
    for (const app of apps) await call('runner-debug', 'last-error', app);
    for (const app of apps.slice(0, 6)) await call('runner-debug', 'log', app, '--raw');
    await call('runner-debug', 'extract', join(printed, apps[0] as string));
    return outputs;
  });
  assert.equal(sightings, []);
  const kept = pathsBelow(root)
    .map((name) => join(root, name))
    .filter(
      (path) =>
        path !== join(root, 'config.yml') && path !== join(root, 'mkey') && statSync(path).isFile(),
    );
  assert.ok(kept.filter((path) => path.endsWith('.log')).length >= APPS);
  const whole = [...said, ...kept.map((path) => readFileSync(path, 'latin1'))].join('\n');
  // A bot's token is part of the address that it is sent to.
  const received = chat.received().replaceAll(/(?:POST|GET) \/\S+/g, '');
  for (const secret of all) assert.is(leftOf(`${whole}\n${received}`, secret), '', secret);
  assert.match(whole, /REDACTED/);
  assert.not.equal(received, '');
  await git.close();
  await chat.close();
});

test.run();
