/**
 * `kill -9` of deploy, fetch and rollback: once the next command has cleaned up, each instance runs
 * the version that the state and the log name, and no other process of the app is left.
 */
import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import { freePort } from '@runner/testing/app';
import { IS_WHOLE } from '@runner/testing/extent';
import { type GitServer, startGitServer } from '@runner/testing/git-server';
import { type Storm, testStorm } from '@runner/testing/kill-storm';
import type { KilledCommand } from '@runner/testing/killing';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openDeploys, versionsIn } from './agreement.ts';
import type { Driver } from './sample-app.ts';
import { makeSubject, type Subject, TOKEN } from './subject.ts';

/** How long a script of a dead deploy might still work, in milliseconds. */
const LEFT_OVER = 400;

interface Variant {
  readonly driver: Driver;
  readonly instances: readonly string[];
}

const VARIANTS: readonly Variant[] = (['process', 'command'] as const).flatMap((driver) => [
  { driver, instances: ['default'] },
  { driver, instances: ['api', 'web'] },
]);

/** Deploys a new version, by hand or by the timer; every fourth time it rolls back instead. */
async function nextAttempt(
  subject: Subject,
  { instances }: Variant,
  time: number,
): Promise<KilledCommand> {
  const { state } = await subject.observe();
  const [before] = state.instances[instances[0] as string]?.previous ?? [];
  if (time % 4 === 3 && before)
    return { tool: 'runner-rollback', args: ['shop', '--to', before.version] };
  await subject.perform(['push', 'good', instances.join(','), '3']);
  return time % 2 === 0
    ? { tool: 'runner-deploy', args: ['shop'] }
    : { tool: 'runner-fetch', args: ['--deploy', 'shop'] };
}

/** Every process of the app works in the active release, one for each instance. */
function checkProcesses(subject: Subject, state: AppState): void {
  const active = Object.values(state.instances).flatMap(({ current }) => current?.release ?? []);
  const working = subject.processes().map(({ pid, command }) => {
    const release = basename(readlinkSync(`/proc/${pid}/cwd`));
    return command.includes('server.js') ? release : `${command} in ${release}`;
  });
  assert.equal(working.sort(), active.sort());
}

/** What anybody may run next. */
const LOOKING = [
  ['runner-list'],
  ['runner-status', 'shop'],
  ['runner-debug', 'last-error', 'shop'],
];

async function check(subject: Subject, { instances }: Variant, before: AppState): Promise<void> {
  for (const [tool = '', ...args] of LOOKING) {
    const { status, stderr } = await run(tool, args, { root: subject.root });
    assert.is(status, 0, stderr);
  }
  // It cleans up, and then there is nothing to deploy.
  const next = await run('runner-deploy', ['shop', '--ref', 'nothing'], { root: subject.root });
  assert.is(next.status, 1, next.stderr);
  await new Promise((resolve) => setTimeout(resolve, LEFT_OVER));
  const { state, served, linked, log, listed, unfinished } = await subject.observe();
  const recorded = versionsIn(log);
  for (const name of instances) {
    const version = state.instances[name]?.current?.version ?? null;
    const views = { served: served[name], linked: linked[name], logged: recorded.get(name) };
    assert.equal(views, { served: version, linked: version, logged: version }, next.stderr);
    const known = before.instances[name];
    const newest = `v${subject.commits.size}`;
    const possible = [known?.current, ...(known?.previous ?? [])].map((each) => each?.version);
    assert.ok([...possible, newest].includes(version ?? ''), `${version} of ${possible}`);
  }
  checkProcesses(subject, state);
  assert.equal([state.deploying, unfinished, openDeploys(log)], [null, [], []]);
  assert.ok(['ok', 'interrupted', 'failing', 'held'].includes(listed.state), listed.state);
}

function killing(subject: Subject, variant: Variant): Storm {
  let before: AppState;
  return {
    async next(time) {
      before = (await subject.observe()).state;
      return nextAttempt(subject, variant, time);
    },
    async check({ signal }, time) {
      await check(subject, variant, before);
      if (signal !== null || time % 4 === 3) return;
      const { served } = await subject.observe();
      for (const name of variant.instances)
        assert.is(served[name], `v${subject.commits.size}`, 'the next deploy repairs everything');
    },
  };
}

/** How often each variant is killed; two times in all fit each commit. */
const TIMES = IS_WHOLE ? [75, 75, 75, 75] : [0, 1, 0, 1];

const test = suite('kills');
let git: GitServer;

test.before(async () => {
  git = await startGitServer({ token: TOKEN });
});
test.after(() => git.close());

for (const [index, variant] of VARIANTS.entries()) {
  const { driver, instances } = variant;
  const many = TIMES[index] ?? 0;
  const what = `${driver} with ${instances.length === 1 ? 'one instance' : 'two instances'}`;
  if (many === 0) continue;
  testStorm(test, `${what}: the right version, and no other process`, many, async () => {
    const ports: Record<string, number> = {};
    for (const name of instances) ports[name] = await freePort();
    const subject = await makeSubject(git, ports, driver);
    await subject.perform(['push', 'good', instances.join(','), '3']);
    assert.is((await subject.perform(['deploy'])).answer, 'deployed');
    const storm = killing(subject, variant);
    return { root: subject.root, storm, close: () => subject.close() };
  });
}

test.run();
