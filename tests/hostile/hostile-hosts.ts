/** Hosts that answer with anything, the commands that ask them, and what holds for all of those. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { tree } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { type Answer, bytes, endless, startRawHost } from './raw-host.ts';
import { BOT_TOKEN, record, type Server, TOKEN } from './server.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
const JSON_OK = `${OK}content-type: application/json\r\n`;
const ACCOUNT = '{"login":"octo","ok":true,"result":{"id":7,"is_bot":true,"username":"b"}}';

/** What a host may answer; `other` is where it sends people. */
export const ANSWERS: Readonly<Record<string, (other: string) => Answer>> = {
  'a body without an end': () => endless(`${JSON_OK}\r\n"`, 'x'.repeat(65_536)),
  'headers without an end': () => endless(OK, `x-more: ${'x'.repeat(1000)}\r\n`),
  'one byte now and then': () => endless(`${JSON_OK}content-length: 100000\r\n\r\n`, 'x', 200),
  'chunks without an end': () =>
    endless(`${JSON_OK}transfer-encoding: chunked\r\n\r\n`, '1\r\nx\r\n', 5),
  'less than announced': () => bytes(`${JSON_OK}content-length: 9999\r\n\r\n${ACCOUNT}`),
  'more than announced': () => bytes(`${JSON_OK}content-length: 3\r\n\r\n${ACCOUNT}`),
  'a length that is no number': () => bytes(`${JSON_OK}content-length: -1\r\n\r\n${ACCOUNT}`),
  'two lengths': () =>
    bytes(`${JSON_OK}content-length: 4\r\ncontent-length: 400\r\n\r\n${ACCOUNT}`),
  'a chunk of a wrong size': () => bytes(`${JSON_OK}transfer-encoding: chunked\r\n\r\nzz\r\n`),
  'control characters in a header': () =>
    bytes(`${JSON_OK}x-oauth-scopes: re\x1b[2Jpo\x00\r\n\r\n${ACCOUNT}`),
  'escapes in status line and body': () =>
    bytes(
      'HTTP/1.1 500 \x1b]0;pwned\x07\r\n\r\n{"message":"\\u001b[2J\\u202eevil","description":"\\u001b[2J"}',
    ),
  'a header within a header': () => bytes(`${OK}location: a\r\n b\r\n\tc\r\n\r\n`),
  'JSON that is cut': () => bytes(`${JSON_OK}\r\n{"login":"oc`),
  'JSON of another shape': () => bytes(`${JSON_OK}\r\n[[[["login"]]]]`),
  'JSON that is deep': () => bytes(`${JSON_OK}\r\n${'['.repeat(200_000)}`),
  'an empty answer': () => bytes(''),
  'no HTTP': () => bytes('SSH-2.0-OpenSSH_9.2\r\n'),
  'HTTP/2 without being asked': () => bytes('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  'an upgrade': () => bytes('HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n'),
  'early hints for ever': () => endless('', 'HTTP/1.1 103 Early Hints\r\n\r\n', 5),
  'a redirect to another origin': (other) =>
    bytes(`HTTP/1.1 302 Found\r\nlocation: ${other}/x\r\ncontent-length: 0\r\n\r\n`),
  'a redirect to a file': () =>
    bytes('HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\ncontent-length: 0\r\n\r\n'),
  'a redirect to git over ssh': () =>
    bytes('HTTP/1.1 301 Moved\r\nlocation: ssh://-oProxyCommand=x/\r\ncontent-length: 0\r\n\r\n'),
};

const EVENT = `${JSON.stringify(record('v9'))}\n`;

/** Which command contacts which host, with the settings that name it. */
export const ASKING = {
  'tokens test': {
    line: ['runner-tokens', 'test', 'shop'],
    config: (host: string) => `code_host_api_url: ${host}\n`,
  },
  'notify send to Telegram': {
    line: ['runner-notify', 'send', '--channel', 'telegram', '--wait', '4'],
    config: (host: string) =>
      `notify:\n  telegram_bot_token: "${BOT_TOKEN}"\n  telegram_chat_id: "-100123"\n  telegram_api_url: ${host}\n`,
  },
  'notify test of Discord': {
    line: ['runner-notify', 'test'],
    config: (host: string) => `notify:\n  discord_webhook: ${host}${HOOK}\n`,
  },
  deploy: {
    line: ['runner-deploy', 'shop'],
    config: (host: string) => `code_host_git_url: ${host}\n`,
  },
} as const;

const HOOK_SECRET = 'w3bh00kS3cr3tw3bh00kS3cr3tw3bh00kS3cr3tw3bh00kS3cr3tw3bh00kS3cr3tw3b';
const HOOK = `/api/webhooks/123456789012345678/${HOOK_SECRET}`;
const SECRETS = [
  TOKEN,
  BOT_TOKEN,
  HOOK_SECRET,
  Buffer.from(`x-access-token:${TOKEN}`).toString('base64'),
];

/** A sentence of the command, the status of a failure, nothing that a terminal obeys, no secret. */
export function isSound(
  what: string,
  { status, signal, stdout, stderr }: Ended,
  statuses: number[],
): void {
  assert.is(signal, null, what);
  assert.ok(statuses.includes(status ?? -1), `${what}: ${status}: ${stderr}`);
  // `notify test` answers with one line a channel.
  const told = what.startsWith('notify ') ? /^runner |discord|telegram/m : /^runner [^\n]+\n/m;
  if (status !== 0) assert.match(stdout + stderr, told, `${what}: ${stdout}${stderr}`);
  assert.not.match(stdout + stderr, /^\s+at .*:\d+:\d+|this is a bug|node:internal/m, what);
  assert.not.match(
    stdout + stderr,
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/,
    what,
  );
  assert.not.match(stdout + stderr, /root:x:0|pwned/, what);
  for (const secret of SECRETS) assert.equal(findSecret(stdout + stderr, secret), [], what);
}

export type Asking = keyof typeof ASKING;

/** Answers that end only with the time that git is given: 60 s for a host that is too slow. */
export const ENDLESS = Object.keys(ANSWERS).filter((name) =>
  /without an end|now and then|for ever/.test(name),
);

/** Runs a command against a host that gives each of these answers, some at a time: they mostly wait. */
export async function meetAll(
  server: Server,
  asking: Asking,
  names: readonly string[],
): Promise<void> {
  const other = await startRawHost(bytes(`${JSON_OK}\r\n${ACCOUNT}`));
  const waiting = [...names];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      await meet(server, asking, next, `http://127.0.0.1:${other.port}`);
  };
  await Promise.all(Array.from({ length: 12 }, work));
  for (const secret of SECRETS) assert.equal(findSecret(other.received(), secret), []);
  await other.close();
  process.stdout.write(`(${names.length} answers to ${asking})\n`);
}

async function meet(server: Server, asking: Asking, name: string, other: string): Promise<void> {
  const what = `${asking}: ${name}`;
  const host = await startRawHost((ANSWERS[name] as (other: string) => Answer)(other));
  const root = server.copy();
  const { line, config } = ASKING[asking];
  writeFileSync(join(root, 'config.yml'), config(`http://127.0.0.1:${host.port}`));
  const log = () => readFileSync(join(root, 'logs/deploy-events.jsonl'), 'utf8');
  const before = log();
  const [tool, ...args] = line;
  const ended = await run(tool, args, { root, stdin: EVENT });
  const mayWork = asking.startsWith('notify send') || /more than announced|in a header/.test(name);
  isSound(what, ended, mayWork ? [0, 1] : [1]);
  assert.ok(host.received().length > 0, what);
  const spool = JSON.stringify(tree(join(root, 'spool')));
  for (const secret of SECRETS) assert.equal(findSecret(spool, secret), [], what);
  const after = log();
  assert.ok(after.startsWith(before), what);
  if (asking === 'deploy') assert.not.match(after.slice(before.length), 'DeployStarted', what);
  await host.close();
}
