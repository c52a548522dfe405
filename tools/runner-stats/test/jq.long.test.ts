/** The figures against a second count, by jq. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutFolder, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { storyOf } from '../../../libs/history/test/story.ts';

const hasJq = spawnSync('jq', ['--version']).status === 0;
if (!hasJq) process.stdout.write('skipped: jq is not installed\n');

const PROGRAM = join(checkoutFolder(), 'libs/history/test/figures.jq');

(hasJq ? test : test.skip)(
  'jq counts the same in 20 logs: interrupted and killed deploys, several instances, clocks that change',
  async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const root = temporaryFolder('stats');
      const log = join(root, 'logs/deploy-events.jsonl');
      mkdirSync(join(root, 'logs'));
      const { records } = storyOf(seed);
      writeFileSync(log, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
      const app = seed % 3 === 0 ? ['shop'] : [];
      const since = ['--since', '2026-09-10', '--json'];
      const env = { TZ: 'Europe/Berlin' };
      const { stdout } = await run('runner-stats', [...app, ...since], { root, env });
      const figures = JSON.parse(stdout);
      const period = ['--arg', 'since', figures.since, '--arg', 'until', figures.until];
      const only = records.filter(({ project }) => app.length === 0 || project === 'shop');
      const counted = execFileSync('jq', ['--slurp', ...period, '--from-file', PROGRAM], {
        input: only.map((record) => JSON.stringify(record)).join('\n'),
        encoding: 'utf8',
      });
      assert.equal(figures, JSON.parse(counted), `seed ${seed}`);
      assert.ok(figures.changes > 5 && figures.slowest_steps.length === 5);
    }
  },
);

test.run();
