import { spawn } from 'node:child_process';
import { watchProcesses } from '@runner/testing/proc-watch';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** Of this process alone: all processes of the machine are looked at. */
const SECRET = `ghp_watch_me_${String(process.pid).padStart(10, '0')}`;
/** Seconds in which a process is seen on a machine that is busy with other things. */
const SEEN = 1;

function finished(command: string, args: string[], env: Record<string, string> = {}) {
  const child = spawn(command, args, { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' });
  const pid = child.pid ?? 0;
  return { pid, done: new Promise((resolve) => child.on('exit', resolve)) };
}

test('a secret in a command line is seen, in any form', async () => {
  const basic = Buffer.from(`x-access-token:${SECRET}`).toString('base64');
  const { sightings } = await watchProcesses([SECRET], async () => {
    await finished('sh', ['-c', `sleep ${SEEN}; :`, SECRET]).done;
    await finished('sh', ['-c', `sleep ${SEEN}; :`, `Basic ${basic}`]).done;
  });
  const forms = sightings.map(({ where, form, command }) => `${command} ${where} ${form}`);
  assert.ok(forms.includes('sh argv raw'), forms.join());
  assert.ok(
    forms.some((form) => /sh argv base64/.test(form)),
    forms.join(),
  );
});

test('a secret in an environment is seen, in grandchildren too', async () => {
  const { sightings } = await watchProcesses([SECRET], async () => {
    await finished('sh', [
      '-c',
      `T=${SECRET.slice(0, 8)}; export T="\${T}${SECRET.slice(8)}"; sleep ${SEEN}`,
    ]).done;
  });
  assert.equal(
    sightings.map(({ where, command }) => [where, command]),
    [['environment', 'sleep']],
  );
});

test('programs that live for a few milliseconds are seen', async () => {
  const { sightings } = await watchProcesses([SECRET], async () => {
    for (let n = 0; n < 100; n += 1) await finished('true', [SECRET]).done;
  });
  assert.ok(sightings.length > 0);
});

test('excepted processes and this one are left out, and nothing else is made up', async () => {
  process.env.OWN_SECRET = SECRET;
  const { value, sightings, rounds } = await watchProcesses([SECRET], async (watch) => {
    const child = finished('sleep', [`${SEEN}`], { TOKEN: SECRET });
    watch.except(child.pid);
    await child.done;
    return 'value';
  });
  delete process.env.OWN_SECRET;
  assert.is(value, 'value');
  assert.equal(sightings, []);
  assert.ok(rounds > 5, String(rounds));
});

test('a failure of the watched action is passed on', async () => {
  const error = await watchProcesses([SECRET], async () => {
    throw new Error('on purpose');
  }).catch((reason: Error) => reason);
  assert.match((error as Error).message, 'on purpose');
});

test.run();
