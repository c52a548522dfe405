/** The scores of the units in tests/README.md are those that systemd computes. None ends for want of memory of another. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutFolder } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const { stdout: version } = spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' });
const scores = suite('scores of units');
// Other versions count differently.
const test = /^systemd 252/.test(version ?? '') ? scores : scores.skip;

const units = join(checkoutFolder(), 'packaging/systemd');
for (const name of readdirSync(units).filter((each) => each.endsWith('.service'))) {
  test(`${name} has the score that the page says`, () => {
    const unit = readFileSync(join(units, name), 'utf8');
    const file = join(temporaryFolder('units'), name);
    writeFileSync(file, unit.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'));
    const args = ['security', '--offline=yes', '--no-pager', file];
    const { stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    const score = /: ([0-9.]+) [A-Z]+ \S+$/.exec(stdout.trim())?.[1];
    const page = readFileSync(join(checkoutFolder(), 'tests/README.md'), 'utf8');
    const row = page
      .split('\n')
      .find((line) => /^\|.*\| [0-9.]+ \|/.test(line) && line.includes(name));
    assert.is(row?.split('|')[2]?.trim(), score);
  });
}

for (const folder of ['systemd', 'preview']) {
  const all = join(checkoutFolder(), 'packaging', folder);
  for (const name of readdirSync(all).filter((each) => each.endsWith('.service'))) {
    const unit = readFileSync(join(all, name), 'utf8');
    if (!unit.includes('\nKillMode=process\n')) continue;
    scores(`${name} goes on when the kernel kills a build or an app in its group`, () => {
      assert.match(unit, '\nOOMPolicy=continue\n');
    });
  }
}

scores.run();
