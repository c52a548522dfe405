/**
 * Deploys, rollbacks and prunes while jobs run, are looked for and are killed: no time is run twice, no run
 * begins in a release that is gone, schedule and release agree. JOB_ROUNDS=n changes the number of rounds.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { IS_WHOLE } from '@runner/testing/extent';
import { randomOf } from '@runner/testing/random';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeJobWorld } from './world.ts';

const test = suite('jobs under kills');
const ROUNDS = Number(process.env.JOB_ROUNDS ?? (IS_WHOLE ? 60 : 12));
const MINUTE = 60_000;
const JOBS = ['skip', 'wait', 'kill'] as const;

test('a time is run once, in a release that is there, whatever is deployed or killed meanwhile', async () => {
  const world = await makeJobWorld();
  const random = randomOf(23);
  const { root } = world;
  const runs = join(root, '..', 'runs');
  const command = `test -d \\"$RUNNER_RELEASE\\" && echo $RUNNER_JOB $RUNNER_JOB_DUE $RUNNER_VERSION >> ${runs}; sleep 0.4; ls . > /dev/null`;
  const sections = JOBS.map(
    (job) =>
      `${job}: { run: "${command}", every: 1m, overlap: ${job}, during_deploy: ${job === 'skip' ? 'continue' : job} }`,
  );
  const jobsOf = (version: number) =>
    `jobs: { ${[...sections, `only${version}: { run: "true", every: 1h }`].join(', ')} }\nkeep: 2\n`;
  const linesOf = () => (existsSync(runs) ? readFileSync(runs, 'utf8').trim().split('\n') : []);
  let kills = 0;
  const killOne = () => {
    const folder = join(root, 'locks/jobs/shop');
    const names = existsSync(folder) ? readdirSync(folder) : [];
    for (const name of names.filter((each) => random() < 0.5 && each !== '.book')) {
      const { pid } = JSON.parse(readFileSync(join(folder, name), 'utf8') || '{}');
      const isOurs = (line: string) => line.includes('runner-jobs') && line.includes(root);
      try {
        if (!isOurs(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))) continue;
        process.kill(pid, 'SIGKILL');
        kills += 1;
      } catch {
        // It was faster.
      }
    }
  };
  // A run counts as killed once it is older than 20 s and no process holds its lock.
  const settleAll = async () => {
    for (let look = 0; JOBS.some((job) => world.entry(job).run); look += 1) {
      assert.ok(look < 50, 'runs go on');
      await sleep(300);
      for (const job of JOBS) world.begun(job, 30_000);
      await world.look();
    }
  };
  try {
    assert.is((await world.ship('v0', jobsOf(0))).status, 0);
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const job of JOBS) if (!world.entry(job).run) world.since(job, MINUTE);
      const before = linesOf().length;
      const looks = [world.look(), world.look()];
      const change =
        round % 3 === 0
          ? run('runner-rollback', ['shop'], { root })
          : round % 3 === 1
            ? world.ship(`v${round}`, jobsOf(round))
            : run('runner-prune', ['shop'], { root });
      let isOver = false;
      const all = Promise.all([...looks, change]).finally(() => {
        isOver = true;
      });
      // Every third round goes undisturbed.
      while (!isOver && round % 3 !== 1) {
        await sleep(random() * 300);
        killOne();
      }
      await all;
      await settleAll();
      const timeOf = (line: string) => line.split(' ').slice(0, 2).join(' ');
      const begun = linesOf().slice(before).map(timeOf);
      for (const time of new Set(begun)) {
        const count = begun.filter((each) => each === time).length;
        // What a deploy has ended runs once more.
        const most = time.startsWith('kill') ? 2 : 1;
        assert.ok(count <= most, `round ${round}: ${time} was run ${count} times`);
      }
      const { current } = (
        world.state() as { instances: { default: { current: { version: string } } } }
      ).instances.default;
      const listed = JSON.parse((await world.jobs(['--json'])).stdout).jobs as { job: string }[];
      const own = listed.map(({ job }) => job).filter((job) => job.startsWith('only'));
      assert.equal(own, [`only${current.version.slice(1)}`], `round ${round}`);
    }
    const lines = linesOf();
    const problems = JOBS.flatMap((job) => world.entry(job).runs)
      .filter(({ outcome, reason }) => outcome === 'failed' && reason)
      .map(({ reason }) => reason);
    assert.equal(problems, []);
    process.stdout.write(`(${ROUNDS} rounds, ${lines.length} runs, ${kills} kills)\n`);
  } finally {
    await world.close();
  }
});

test.run();
