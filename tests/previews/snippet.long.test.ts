/** The site that `runner preview snippet` prints, in the proxies that are installed. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { freePort } from '@runner/testing/app';
import { programOf } from '@runner/testing/real-proxy';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePreviewWorld } from './world.ts';

const CONFIGS = {
  nginx: (text: string, folder: string, port: number) =>
    `daemon off; user root; pid ${folder}/pid; error_log ${folder}/error.log;
events { }
http { access_log off; ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${folder}/${each};`).join(' ')}
${text.replaceAll('listen 80;', `listen 127.0.0.1:${port};`)} }`,
  caddy: (text: string, _: string, port: number) =>
    `{\n admin off\n auto_https off\n}\n${text.replace(/^(\S+) \{/, `http://$1:${port} {\n bind 127.0.0.1`)}`,
};

const ARGS = {
  nginx: (file: string, folder: string) => ['-p', folder, '-c', file, '-e', `${folder}/error.log`],
  caddy: (file: string) => ['run', '--adapter', 'caddyfile', '--config', file],
};

function ask(port: number, host: string): Promise<string> {
  return new Promise((resolve) => {
    const asked = request(
      { port, host: '127.0.0.1', headers: { host }, agent: false },
      (answer) => {
        let text = '';
        answer.on('data', (chunk) => (text += chunk));
        answer.on('end', () => resolve(`${answer.statusCode} ${text.trim()}`));
      },
    );
    asked.on('error', (error) => resolve(error.message));
    asked.end();
  });
}

for (const name of ['nginx', 'caddy'] as const)
  (programOf(name) ? test : test.skip)(
    `${name} finds each preview by its host name, without a reload`,
    async () => {
      const world = await makePreviewWorld();
      const { stdout: text, stderr } = await world.runner(
        'preview',
        'snippet',
        'shop',
        '--proxy',
        name,
      );
      assert.is(stderr, '');
      const [folder, port] = [temporaryFolder(name), await freePort()];
      const file = join(folder, 'config');
      writeFileSync(file, CONFIGS[name](text, folder, port));
      const proxy = spawn(programOf(name) as string, ARGS[name](file, folder), { stdio: 'ignore' });
      const site = (key: string) => `${key}.preview.example.org`;
      await until(async () => /^404/.test(await ask(port, site('other'))), `${name} did not start`);
      for (const number of [7, 12]) await world.open(number);
      const made = await world.sync();
      assert.is(await ask(port, site('pr-7')), '200 pr 7', made.stderr);
      assert.is(await ask(port, site('pr-12')), '200 pr 12');
      assert.match(await ask(port, site('pr-99')), /^502/);
      assert.match(await ask(port, site('pr-7x')), /^404/);
      proxy.kill();
      await world.end();
    },
  );

test('HAProxy, which finds no socket by a name, is refused in a sentence', async () => {
  const world = await makePreviewWorld();
  const refused = await world.runner('preview', 'snippet', 'shop', '--proxy', 'haproxy');
  assert.is(refused.status, 2);
  await world.end();
});

test.run();
