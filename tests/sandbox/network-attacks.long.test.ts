/** Install scripts that do what published attacks have done: nothing gets out, and each is named. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isAvailable } from './available.ts';
import { openInternet, PUBLIC, runGuarded } from './internet.ts';
import { ATTACKS, installScript } from './network-attacks.ts';

const attacks = suite('install scripts of attacks');
const test = isAvailable ? attacks : attacks.skip;

/** An archive of a package with an install script. */
function archive(at: number): Buffer {
  const [name] = ATTACKS[at] as readonly [string, string];
  const folder = temporaryFolder('package');
  mkdirSync(join(folder, 'package'));
  const about = { name, version: '1.0.0', scripts: { postinstall: 'node setup.js' } };
  writeFileSync(join(folder, 'package/package.json'), JSON.stringify(about));
  writeFileSync(join(folder, 'package/setup.js'), installScript(at));
  execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: folder });
  return readFileSync(join(folder, 'package.tgz'));
}

test(`none of ${ATTACKS.length} sends anything, and each is named with its package`, async () => {
  const internet = await openInternet({ 'good.example.org': [[PUBLIC]] });
  try {
    const archives = ATTACKS.map(([name], at) => [`${name}.tgz`, archive(at)] as const);
    const dependencies = Object.fromEntries(ATTACKS.map(([name]) => [name, `file:${name}.tgz`]));
    const files = {
      ...Object.fromEntries(archives),
      'package.json': JSON.stringify({ name: 'shop', version: '1.0.0', dependencies }),
    };
    const env = { CANARY: 'canarytext' };
    const install = 'npm install --offline --no-audit --no-fund --foreground-scripts=false';
    const done = await runGuarded(['good.example.org'], install, { files, env });
    assert.is(done.status, 0, done.output);
    assert.is(internet.seen(), '');
    const by = (name: string) => `package ${name} (`;
    const unnamed = ATTACKS.filter(
      ([name]) => !done.refusals.some((each) => each.by?.startsWith(by(name))),
    );
    const count = ATTACKS.length - unnamed.length;
    process.stdout.write(`(${ATTACKS.length} attacks, 0 sent anything, ${count} named)\n`);
    assert.equal(
      unnamed.map(([name]) => name),
      [],
    );
  } finally {
    internet.close();
  }
});

attacks.run();
