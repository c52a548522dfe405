/** The site that `runner preview snippet` prints, in the proxies that are installed. */
import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { placeFor, programOf, REAL_PROXIES, startConfigured } from '@runner/testing/real-proxy';
import { until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startWaker } from '../traffic/sleep-world.ts';
import { foldersAbove, makePreviewWorld } from './world.ts';

const CONFIGS = {
  nginx: (text: string, folder: string, port: number) =>
    `daemon off; user www-data; pid ${folder}/pid; error_log ${folder}/error.log;
events { }
http { access_log off; ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${folder}/${each};`).join(' ')}
${text.replaceAll('listen 80;', `listen 127.0.0.1:${port};`)} }`,
  caddy: (text: string, _: string, port: number) =>
    `{\n admin off\n auto_https off\n}\n${text.replace(/^(\S+) \{/, `http://$1:${port} {\n bind 127.0.0.1`)}`,
  haproxy: (text: string, _: string, port: number) =>
    `defaults\n mode http\n timeout connect 5s\n timeout client 60s\n timeout server 60s
frontend f\n bind 127.0.0.1:${port}
${text.replace('#   use_backend', ' use_backend')}`,
};

/** Of a name that is no preview's, and of a preview that is not there. HAProxy's frontend has no other backend here. */
const MISSING = { nginx: [404, 502], caddy: [404, 502], haproxy: [503, 404] };

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

for (const name of REAL_PROXIES)
  (programOf(name) ? test : test.skip)(
    `${name} finds each preview by its host name, without a reload`,
    async () => {
      const world = await makePreviewWorld();
      const { root } = world;
      // As `runner setup --print` says: the folders of previews follow that of their app.
      for (const path of foldersAbove(root)) {
        chmodSync(path, 0o750);
        execFileSync('setfacl', ['-m', 'u:www-data:x', path]);
      }
      const { stdout: text, stderr } = await world.runner(
        'preview',
        'snippet',
        'shop',
        '--proxy',
        name,
      );
      assert.is(stderr, '');
      const place = await placeFor(name);
      const { folder, port } = place;
      const proxy = await startConfigured(name, CONFIGS[name](text, folder, port), place);
      const site = (key: string) => `${key}.preview.example.org`;
      const waker = await startWaker(world.root);
      try {
        const [foreign, gone] = MISSING[name].map(String);
        const asks = (key: string) => ask(port, site(key)).then((answer) => answer.slice(0, 3));
        await until(async () => (await asks('other')) === foreign, `${name} did not start`);
        for (const number of [7, 12]) await world.open(number);
        const made = await world.sync();
        assert.is(await ask(port, site('pr-7')), '200 pr 7', made.stderr);
        assert.is(await ask(port, site('pr-12')), '200 pr 12');
        assert.is(await ask(port, `${site('pr-12')}:${port}`), '200 pr 12');
        assert.is(await asks('pr-99'), gone);
        assert.is(await asks('pr-7x'), foreign);
        if (name !== 'nginx' || process.getuid?.() !== 0) return;
        execFileSync('setfacl', ['-b', join(root, 'apps/shop--pr-7')]);
        const closed = await world.runner('doctor', '--offline');
        assert.match(closed.stdout, /nginx \(www-data\) may not enter .*shop--pr-7/);
        await world.sync();
        assert.is(await asks('pr-7'), '200');
      } finally {
        proxy.close();
        waker.kill('SIGTERM');
        await world.end();
      }
    },
  );

test.run();
