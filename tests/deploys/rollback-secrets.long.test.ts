/** 100 rollbacks after random changes of secrets: by hand with the values of today, automatic with those that ran. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomOf } from '@runner/testing/random';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld } from './world.ts';

const ROLLBACKS = 100;
const NAMES = ['A', 'B', 'C', 'D', 'E'];
const DUMP = 'mkdir -p "$RUNNER_SHARED"; cat /proc/self/environ > "$RUNNER_SHARED/environ"';
/** Started by a command, or as a process: an app that only writes down what it was given. */
const STARTS = [
  `start: { type: command, run: ${JSON.stringify(`sh -c '${DUMP}'`)} }\nstop: "true"\n`,
  `start: { type: process, run: ${JSON.stringify(`sh -c '${DUMP}'; exec sleep 1000`)} }\n`,
];
const ODD = ['\n', '"', '$HOME', '=', "'", '\\', ' '];

for (const [at, start] of STARTS.entries())
  test(`${ROLLBACKS / 2} rollbacks give the values that they should, ${at === 0 ? 'command' : 'process'}`, async () => {
    const world = await makeWorld();
    const { root } = world;
    const random = randomOf(at + 1);
    const below = (limit: number) => Math.floor(random() * limit);
    let [today, started] = [new Map<string, string>(), new Map<string, string>()];
    let versions = 0;
    const type = async (tool: string, args: readonly string[], status: number, stdin = '') => {
      const done = await run(`runner-${tool}`, args, { root, stdin });
      assert.is(done.status, status, `${tool} ${args.join(' ')}: ${done.stderr}`);
    };
    const push = (more: string) => {
      versions += 1;
      return world.push(`v${versions}`, { deploy: `${start}${more}keep: 5\n` });
    };
    const change = async () => {
      const name = NAMES[below(NAMES.length)] as string;
      if (today.has(name) && below(4) === 0) {
        await type('env', ['unset', 'shop', name], 0);
        today = new Map([...today].filter(([each]) => each !== name));
        return;
      }
      const value = `value ${random()}${ODD[below(ODD.length)]}${random()}`;
      await type('env', ['set', 'shop', name, '--file', '-'], 0, value);
      today = new Map([...today, [name, value]]);
    };
    const check = (what: string) => {
      const path = join(root, 'apps/shop/instances/default/shared/environ');
      const entries = readFileSync(path, 'utf8').split('\0');
      const own = entries.filter((entry) => NAMES.includes(entry.split('=', 1)[0] as string));
      assert.equal(own.sort(), [...started].map((pair) => pair.join('=')).sort(), what);
    };
    await change();
    for (let count = 0; count < 2; count += 1) {
      await push('');
      await type('deploy', ['shop'], 0);
    }
    started = today;
    check('deployed');
    for (let count = 1; count <= ROLLBACKS / 2; count += 1) {
      for (let times = below(3); times > 0; times -= 1) await change();
      if (below(2) === 0) {
        const { previous } = (
          world.state().instances as { default: { previous: { version: string }[] } }
        ).default;
        const { version = '' } = previous[below(previous.length)] ?? {};
        await type('rollback', ['shop', '--to', version], 0);
        started = today;
        check(`rollback ${count} by hand to ${version}`);
      } else {
        await push('health: { cmd: "false", interval: 20ms, within: 60ms }\n');
        await type('deploy', ['shop'], 1);
        check(`rollback ${count}, automatic`);
      }
      if (below(5) === 0) {
        await push('');
        await type('deploy', ['shop'], 0);
        started = today;
        check('deployed');
      }
    }
    await world.close();
    process.stdout.write(`(${ROLLBACKS / 2} rollbacks)\n`);
  });

test.run();
