/** The ways out of the sandbox: each is open without it, and closed in it. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processesIn } from '@runner/testing/processes';
import { run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isAvailable } from './available.ts';

interface Report {
  readonly holds: boolean;
  readonly escaped: number;
  readonly attempts: readonly {
    readonly attempt: string;
    readonly without: string;
    readonly build: string;
    readonly hook: string;
    readonly app: string;
    readonly open_to: readonly string[];
  }[];
}

const doctor = (env = { RUNNER_SANDBOX: 'auto' }, more = ['--json'], root?: string) =>
  run('runner-doctor', ['--sandbox', ...more], { env, ...(root && { root }) });

const escapes = suite('escapes');
const test = isAvailable ? escapes : escapes.skip;

test('nothing that succeeds without the sandbox succeeds in it', async () => {
  const { status, stdout } = await doctor();
  const { holds, escaped, attempts } = JSON.parse(stdout) as Report;
  assert.equal([status, holds, escaped], [0, true, 0]);
  const tried = attempts.filter(({ without }) => without !== 'absent');
  assert.ok(tried.length >= 40, `${tried.length} attempts`);
  // Otherwise the attempt itself would be broken.
  assert.equal(
    tried.filter(({ without }) => without !== 'reached'),
    [],
  );
  for (const profile of ['build', 'hook', 'app'] as const)
    assert.equal(
      tried.filter((each) => each[profile] !== 'stopped' && !each.open_to.includes(profile)),
      [],
    );
});

test('a server or an app without the sandbox is not called safe', async () => {
  const off = await doctor({ RUNNER_SANDBOX: 'off' }, []);
  assert.is(off.status, 1);
  assert.match(off.stdout, /\nsandbox: off: commands run as in the column 'without'/);
  const root = temporaryFolder('root');
  mkdirSync(join(root, 'state'));
  writeFileSync(join(root, 'config.yml'), 'sandbox: { apps: { legacy: off } }\n', { mode: 0o600 });
  writeFileSync(join(root, 'state/legacy.json'), '{}\n', { mode: 0o600 });
  const one = await doctor({ RUNNER_SANDBOX: 'auto' }, [], root);
  assert.is(one.status, 0);
  assert.match(one.stdout, "\nlegacy: off, as in the column 'without'\n");
});

test('what it tried the ways out with ends with it', async () => {
  const { pid, done } = start('runner-doctor', ['--sandbox']);
  const decoy = () => processesIn(`runner-decoy-${pid}`)[0]?.command;
  await until(() => decoy() !== undefined, 'there is no decoy');
  const [folder = ''] = /\/tmp\/runner-decoy-\w+/.exec(decoy() ?? '') ?? [];
  const left = () => readdirSync('/tmp').filter((name) => name.startsWith(`runner-escape-${pid}-`));
  await until(() => left().length > 0, 'nothing was tried');
  process.kill(pid, 'SIGTERM');
  assert.is((await done).status, 143);
  await until(() => decoy() === undefined, 'the decoy is left');
  assert.equal([existsSync(folder), left()], [false, []]);
});

escapes.run();
