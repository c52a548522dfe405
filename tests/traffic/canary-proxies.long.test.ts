/**
 * A canary behind the real proxies, with the configuration that `runner watch --proxy` prints.
 * CANARY_CLIENTS=n changes the number of clients.
 */
import { spawn } from 'node:child_process';
import { existsSync, readlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { accepts } from '@runner/deploy/instances/reach';
import { freePort, killApp } from '@runner/testing/app';
import { start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeTrafficWorld } from './world.ts';

const test = suite('canary behind a proxy');
const CLIENTS = Number(process.env.CANARY_CLIENTS ?? 600);
const CANARY =
  'traffic: { type: socket, drain: 1s }\nwatch: { for: 40s, logs: false }\ncanary: [25%]\n';

/** The whole configuration around the printed one. */
const CONFIGS = {
  nginx(text: string, port: number, folder: string) {
    const [outside = '', inside = ''] = text.split('# In server:');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    return `daemon off; user root; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 1024; }
http { access_log off;
${temporary.map((each) => `${each}_temp_path ${folder}/${each};`).join('\n')}
${outside}
server { listen 127.0.0.1:${port};
${inside} } }
`;
  },
  caddy: (text: string, port: number) =>
    `{\n admin off\n auto_https off\n}\nhttp://:${port} {\n bind 127.0.0.1\n${text}\n}\n`,
  haproxy: (text: string, port: number) =>
    `defaults\n mode http\n timeout connect 5s\n timeout client 60s\n timeout server 60s
frontend f\n bind 127.0.0.1:${port}\n default_backend shop\n${text}`,
};
const ARGS = {
  nginx: (file: string, folder: string) => ['-p', folder, '-c', file, '-e', `${folder}/error.log`],
  caddy: (file: string) => ['run', '--adapter', 'caddyfile', '--config', file],
  haproxy: (file: string) => ['-f', file],
};

interface Visit {
  readonly status: number;
  readonly version: string;
  readonly cookie: string;
}

function visit(port: number, headers: Record<string, string>): Promise<Visit> {
  return new Promise((resolve) => {
    const lost = () => resolve({ status: 0, version: '', cookie: '' });
    const sent = request({ port, headers, agent: false }, (answer) => {
      answer.resume();
      answer.on('error', lost);
      answer.on('end', () => {
        const [set = ''] = answer.headers['set-cookie'] ?? [];
        const cookie = set.split(';')[0] as string;
        resolve({
          status: answer.statusCode ?? 0,
          version: String(answer.headers.version),
          cookie,
        });
      });
    });
    sent.on('error', lost);
    sent.end();
  });
}

async function visits(port: number, count: number, headersOf: (at: number) => object) {
  const all: Visit[] = [];
  for (let at = 0; at < count; at += 50)
    all.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, count - at) }, (_, each) =>
          visit(port, headersOf(at + each) as Record<string, string>),
        ),
      )),
    );
  return all;
}

for (const name of ['nginx', 'caddy', 'haproxy'] as const) {
  const program = ['/usr/sbin', '/usr/bin'].map((dir) => join(dir, name)).find(existsSync);
  const sentence = `${name} gives a release its share, keeps each client where it was, and loses no request`;
  if (!program) {
    test.skip(sentence, () => {});
    continue;
  }
  test(sentence, async () => {
    const world = await makeTrafficWorld();
    const folder = temporaryFolder(name);
    const port = await freePort();
    const file = join(folder, 'config');
    assert.is((await world.ship('v1', 'good', CANARY)).status, 0);
    const { stdout, status } = await world.runner('watch', 'shop', '--proxy', name);
    assert.is(status, 0);
    writeFileSync(file, CONFIGS[name](stdout, port, folder));
    const env = { ...process.env, HOME: folder };
    const proxy = spawn(program, ARGS[name](file, folder), { stdio: 'ignore', env });
    try {
      await until(() => accepts({ port }), `${name} did not start`);
      const deploy = trafficFile(CANARY);
      await world.push('v2', { deploy, files: trafficFiles('v2', 'good') });
      const deploying = start('runner-deploy', ['shop'], { root: world.root });
      // The last of the five links that lead to it: a client that asks before may move.
      const last = join(world.dir, 'share/04');
      await until(() => readlinkSync(last) === '../next', 'no canary');
      const agents = (at: number) => ({ 'user-agent': `client ${at}` });
      const first = await visits(port, CLIENTS, agents);
      const share = (100 * first.filter(({ version }) => version === 'v2').length) / CLIENTS;
      process.stdout.write(`(${CLIENTS} clients of ${name}: ${share.toFixed(2)} %, wanted 25)\n`);
      assert.ok(Math.abs(share - 25) <= 7, String(share));
      const again = await visits(port, CLIENTS, (at) => ({
        'user-agent': `other ${at}`,
        cookie: first[at]?.cookie ?? '',
      }));
      const moved = again.filter((each, at) => each.version !== first[at]?.version).length;
      const token = /next ([0-9a-f]{32})/.exec(stdout)?.[1] ?? '';
      const chosen = await visits(port, 20, () => ({ 'x-runner-version': `next ${token}` }));
      const byCookie = await visits(port, 20, () => ({ cookie: `runner_next=${token}` }));
      const all = [...first, ...again, ...chosen, ...byCookie];
      assert.is(all.filter((each) => each.status !== 200).length, 0);
      assert.is(moved, 0);
      assert.ok([...chosen, ...byCookie].every(({ version }) => version === 'v2'));
      assert.is((await deploying.done).status, 0);
      const after = await visits(port, 100, agents);
      assert.ok(after.every(({ version }) => version === 'v2'));
    } finally {
      proxy.kill('SIGTERM');
      killApp(world.root, 'shop');
      await world.close();
    }
  });
}

test.run();
