import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@runner/testing/app';
import { start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { proofOf } from './prove.ts';
import { laidOut, scratches, server } from './root.ts';

/** The command lines of all processes that have a text in them. */
function commandsWith(text: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return /^\d+$/.test(pid) && line.includes(text) ? [line] : [];
    } catch {
      return [];
    }
  });
}

test('a server with a port of its own is found there, and PORT becomes that one', async () => {
  const port = await freePort();
  const { line, file } = await proofOf({ 'server.js': server('/', String(port)) });
  assert.match(line, /^Proven/);
  assert.match(file, `PORT: "${port}" # it listens there, whatever PORT is`);
});

test('a server on a socket in its release is asked through it', async () => {
  const { line, file } = await proofOf({ 'server.js': server('/up', "'app.sock'") });
  assert.is(line, 'Proven: it was built and started, and answered GET /up with 200.');
  assert.match(file, 'cmd: curl -fsS --unix-socket app.sock http://localhost/up');
  assert.not.match(file, 'PORT');
});

for (const [what, files, words, cause] of [
  [
    'does not build',
    {
      'package.json': { scripts: { build: 'node build.js', start: 'node server.js' } },
      'server.js': server('/'),
      'build.js': "console.error('error TS2304: Cannot find name foo'); process.exit(2);\n",
    },
    'Not proven: build: `npm run build` ended with status 2.',
    'Cannot find name foo',
  ],
  [
    'dies',
    { 'server.js': "// createServer(\nthrow new TypeError('no database');\n" },
    'Not proven: start: `NODE_ENV=production node server.js` ended with status 1.',
    'TypeError: no database',
  ],
  [
    'answers nothing but errors',
    { 'server.js': server('/secret') },
    /^Not proven: health: it listens on PORT, and no path answered with 200 to 299: \/ 404, \/health 404, .*\.$/,
    '',
  ],
  [
    'exits after its first answer',
    { 'server.js': server('/').replace("'ok');", "'ok', () => process.exit());") },
    'Not proven: start: `NODE_ENV=production node server.js` ended with status 0 after it had answered GET / with 200.',
    '',
  ],
  [
    'exits somewhat later',
    {
      'server.js': server('/').replace(
        "'ok');",
        "'ok', () => setTimeout(() => process.exit(3), 1_200));",
      ),
    },
    'Not proven: start: `NODE_ENV=production node server.js` ended with status 3 after it had answered GET / with 200.',
    '',
  ],
  [
    'answers once, and then with errors',
    { 'server.js': `let asked = 0;\n${server('/').replace('? 200', '&& asked++ === 0 ? 200')}` },
    /^Not proven: health: it answered GET \/ with 200, and a second later with 404\.$/,
    '',
  ],
] as const) {
  test(`an app that ${what} is never called proven, and the cause is shown`, async () => {
    const { status, stdout, stderr, line } = await proofOf(files);
    assert.match(line, words);
    assert.match(stderr, cause);
    assert.not.match(stdout + stderr, /\bProven/);
    assert.is(status, 1);
  });
}

for (const [signal, sandbox] of [
  ['SIGINT', 'auto'],
  ['SIGKILL', 'auto'],
  ['SIGKILL', 'off'],
] as const) {
  test(`${signal} with the sandbox ${sandbox} leaves no process, no folder and no file`, async () => {
    const mark = `mark-${process.pid}-${signal}-${sandbox}`;
    const slow = `setInterval(() => {}, 1000); // createServer( ${mark}\n`;
    const folder = laidOut({
      'server.js': slow,
      Procfile: `web: sh -c 'sleep 300 & node server.js ${mark}'\n`,
    });
    const running = start('runner-init', [folder, '--yes'], {
      root: join(folder, '../no-root'),
      env: { TMPDIR: scratches, RUNNER_SANDBOX: sandbox },
    });
    await until(() => commandsWith(mark).length > 0, 'it has not been started');
    process.kill(running.pid, signal);
    const { status, stderr } = await running.done;
    if (signal === 'SIGINT') {
      assert.is(status, 130);
      assert.match(stderr, 'cancelled, nothing was changed');
    }
    await until(() => commandsWith(mark).length === 0, 'a process is left');
    await until(() => readdirSync(scratches).length === 0, 'a folder is left');
    assert.equal(readdirSync(folder).sort(), ['Procfile', 'server.js']);
  });
}

test.run();
