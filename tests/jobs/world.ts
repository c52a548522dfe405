/** An app with jobs, and a clock that a test sets back in what is known of them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobBook, JobEntry } from '@runner/common/apps/job-book';
import { type Ended, run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { deployFile, makeWorld, type World } from '../deploys/world.ts';

export interface JobWorld extends World {
  /** Deploys a version whose `.deploy.yml` has these jobs. */
  ship(version: string, jobs: string): Promise<Ended>;
  jobs(args: readonly string[]): Promise<Ended>;
  /** Begins what is due. */
  look(): Promise<Ended>;
  entry(job: string): JobEntry;
  /** Sets the last look at a job back by `ms`. */
  since(job: string, ms: number): void;
  /** Sets the beginning of the current run of a job back by `ms`. */
  begun(job: string, ms: number): void;
  /** Waits until a job has no run that goes on, and `count` that are over. */
  over(job: string, count: number): Promise<void>;
}

export async function makeJobWorld(): Promise<JobWorld> {
  const world = await makeWorld();
  const { root } = world;
  const file = join(root, 'apps/shop/jobs.json');
  const book = () => JSON.parse(readFileSync(file, 'utf8')) as JobBook;
  const jobs = (args: readonly string[]) => run('runner-jobs', args, { root });
  const entry = (job: string) => book().jobs[job] as JobEntry;
  return {
    ...world,
    async ship(version, text) {
      await world.push(version, { deploy: deployFile(world.port, text) });
      return world.deploy();
    },
    jobs,
    look: () => jobs(['run', '--due']),
    entry,
    since(job, ms) {
      const settled = new Date(Date.now() - ms).toISOString();
      const now = book();
      now.jobs[job] = { ...entry(job), settled, next: settled };
      writeFileSync(file, JSON.stringify(now));
    },
    begun(job, ms) {
      const now = book();
      const { run: going } = entry(job);
      const at = new Date(Date.now() - ms).toISOString();
      if (!going || (now.jobs[job] as JobEntry).run?.id !== going.id) return;
      now.jobs[job] = { ...entry(job), run: { ...going, at } };
      writeFileSync(file, JSON.stringify(now));
    },
    over: (job, count) =>
      until(
        () => existsSync(file) && !entry(job).run && entry(job).runs.length >= count,
        `job ${job} has not ended ${count} runs`,
      ),
  };
}
