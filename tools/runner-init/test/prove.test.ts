import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { proofOf } from './prove.ts';
import { init, laidOut, server, written } from './root.ts';

test('a server is proven by its answer, and the path that answered is written', async () => {
  const { status, stdout, line, file } = await proofOf({ 'server.js': server('/healthz') });
  assert.is(line, 'Proven: it was built and started, and answered GET /healthz with 200.');
  assert.match(stdout, line);
  assert.match(file, 'url: http://127.0.0.1:${PORT}/healthz # answered 200');
  assert.match(file, 'PORT: "3000"');
  assert.is(status, 0);
});

test('a program that is missing here is named, and the rest is written as not proven', async () => {
  const { status, line } = await proofOf({ 'mix.exs': '{:phoenix, "~> 1.8"}\n app: :shop' });
  assert.equal([status, line], [0, 'Not proven: build: mix is not on PATH.']);
});

test('what git ignores is not in the build, and .env of the checkout stands for the shared one', async () => {
  const folder = laidOut({
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/objects/info/x': '',
    '.git/refs/heads/.keep': '',
    '.git/config': '[core]\n\tfsmonitor = touch /tmp/never; false\n',
    '.gitignore': 'secret.js\n.env\n',
    '.env.example': 'A=\n',
    '.env': 'A=yes\n',
    'secret.js': '',
    'server.js': `const fs = require('fs');
if (fs.existsSync('secret.js') || !fs.readFileSync('.env', 'utf8').includes('yes')) process.exit(1);
${server('/')}`,
  });
  const { status, stderr } = await init(folder, ['--yes']);
  assert.is(status, 0, stderr);
  assert.match(written(folder), /^# .*\. Proven/m);
});

test.run();
