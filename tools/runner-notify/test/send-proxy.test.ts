/** The way to the services leads through a proxy where the environment names one. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { findSecret } from '@runner/testing/secret-search';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, type Chats, event, startChats } from './chats.ts';

interface Proxy {
  readonly url: string;
  /** What it was asked for, with the credentials that came along. */
  readonly seen: string[];
  close(): void;
}

async function startProxy(): Promise<Proxy> {
  const seen: string[] = [];
  const server: Server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', (request, socket) => {
    const { 'proxy-authorization': credentials } = request.headers;
    seen.push([`CONNECT ${request.url}`, credentials].filter(Boolean).join(' '));
    const [host = '', port] = (request.url ?? '').split(':');
    const tunnel = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      tunnel.pipe(socket).pipe(tunnel);
    });
    for (const each of [socket, tunnel]) each.on('error', () => tunnel.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () => server.close(),
  };
}

let chats: Chats;
let proxy: Proxy;
test.before.each(async () => {
  chats = await startChats();
  proxy = await startProxy();
});
test.after.each(async () => {
  proxy.close();
  await chats.close();
});

const resultsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('both services are reached through the proxy, which learns their hosts alone', async () => {
  const env = { http_proxy: proxy.url.replace('//', '//user:pass@') };
  const ended = await chats.send([event('DeployStarted')], ['--json'], { env });
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.equal(
    resultsOf(ended.stdout).map(({ result }) => result),
    ['delivered', 'delivered'],
  );
  assert.equal(
    [...proxy.seen].sort(),
    [chats.bot.url, chats.hook.url]
      .map((url) => `CONNECT ${new URL(url).host} Basic dXNlcjpwYXNz`)
      .sort(),
  );
  assert.equal(findSecret(proxy.seen.join('\n'), BOT_TOKEN), []);
});

test('NO_PROXY is heeded', async () => {
  const env = { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' };
  const ended = await chats.send([event('DeployStarted')], ['--json'], { env });
  assert.is(ended.status, 0);
  assert.equal(proxy.seen, []);
  assert.is(chats.hook.messages.length, 1);
});

test('an unreachable proxy is reported, and the messages stay queued', async () => {
  const env = { http_proxy: 'http://user:hidden-pass@127.0.0.1:1' };
  const args = ['--json', '--wait', '0'];
  const ended = await chats.send([event('DeployStarted')], args, { env });
  assert.is(ended.status, 0);
  for (const { result, code } of resultsOf(ended.stdout))
    assert.equal([result, code], ['queued', 'ECONNREFUSED']);
  assert.match(ended.stderr, "check the server's network, and the proxy if there is one");
  assert.equal(findSecret(ended.stdout + ended.stderr, 'hidden-pass'), []);
});

test.run();
