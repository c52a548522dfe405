/** The output of start.type process: bounded on the disk, and followed without losing a line. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { run, start } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { deployFile, worldSuite } from './world.ts';

const test = worldSuite('output');

const RESTARTS = 20;
const FILE_MAX = 10_485_760;
/** Enough to fill six files. */
const BYTES = 6 * FILE_MAX;

/** An app that serves, prints 5,000 lines a second, and says at its end how many there were. */
const CHATTY = `
let line = 0;
setInterval(() => {
  for (let each = 0; each < 250 && line < Infinity; each += 1, line += 1)
    process.stdout.write(process.pid + ' ' + line + ' ' + 'words '.repeat(60) + '\\n');
}, 50);
process.on('SIGTERM', () => {
  process.stdout.write(process.pid + ' ended ' + line + '\\n', () => process.exit());
  line = Infinity;
});
require('./server.js');
`;

test('20 restarts and 5 rotations at 5,000 lines a second: logs -f shows each line once, in order', async ({
  world,
}) => {
  const { root } = world;
  const deploy = deployFile(world.port).replace('exec node server.js', 'exec node chatty.js');
  await world.launch('v1', { deploy, files: { 'chatty.js': CHATTY } });
  assert.is((await run('runner-stop', ['shop'], { root })).status, 0);
  const following = start('runner-logs', ['shop', '-f', '-n', '0'], { root });
  const counts = new Map<string, number>();
  let [bytes, ended] = [0, 0];
  const reading = (async () => {
    for await (const text of following.stdout) {
      bytes += text.length + 1;
      if (text.startsWith('version v1')) continue;
      const [pid = '', number = '', last] = text.split(' ');
      const wanted = counts.get(pid) ?? 0;
      assert.is(number === 'ended' ? last : number, String(wanted), text.slice(0, 60));
      counts.set(pid, wanted + 1);
      ended += Number(number === 'ended');
      if (ended > RESTARTS) return;
    }
  })();
  let problem: unknown;
  reading.catch((error: unknown) => {
    problem = error;
  });
  assert.is((await run('runner-start', ['shop'], { root })).status, 0);
  for (let restart = 1; restart <= RESTARTS; restart += 1) {
    const wanted = (BYTES / (RESTARTS + 1)) * restart;
    while (bytes < wanted && problem === undefined)
      await new Promise((resolve) => setTimeout(resolve, 50));
    assert.is(problem, undefined);
    const { status, stderr } = await run('runner-restart', ['shop'], { root });
    assert.is(status, 0, stderr);
  }
  assert.is((await run('runner-stop', ['shop'], { root })).status, 0);
  await reading;
  following.kill('SIGINT');
  await following.done;
  assert.is(counts.size, RESTARTS + 1);
  assert.ok(bytes > 5 * FILE_MAX);
  const folder = join(root, 'apps/shop/instances/default/run');
  const files = readdirSync(folder).filter((name) => name.startsWith('output.log'));
  assert.equal(files.sort(), ['output.log', 'output.log.1', 'output.log.2', 'output.log.3']);
  for (const file of files) assert.ok(statSync(join(folder, file)).size < FILE_MAX + 300_000, file);
  // A line that begins in one file and ends in the next is one line.
  const { size } = statSync(join(folder, 'output.log'));
  const more = String(Math.ceil(size / 360) + 3000);
  const shown = (await run('runner-logs', ['shop', '-n', more], { root })).stdout.split('\n');
  const torn = shown.filter(
    (line) => line !== '' && !/^(\d+ (\d+ (words )+|ended \d+)|version .*)$/.test(line),
  );
  assert.equal(torn, []);
  assert.is(shown.length - 1, Number(more));
});

test.run();
