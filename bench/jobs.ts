/**
 * `npm run bench -- jobs`: what looking for jobs costs when none is due, which the timer and each `fetch` do
 * every minute: an app without jobs, and one with thirty.
 */
import { makeJobWorld } from '../tests/jobs/world.ts';
import {
  added,
  compare,
  conclude,
  type Figure,
  FLOOR,
  ours,
  printTable,
} from './harness/measure.ts';
import { printSetting } from './harness/setting.ts';

const ROUNDS = 40;
const JOBS = 30;
/** Of what the look itself adds, in times of `node -e 0`. */
const BUDGET = 0.1;

async function main(): Promise<void> {
  printSetting('Looking for jobs', ROUNDS);
  const [none, many] = [await makeJobWorld(), await makeJobWorld()];
  try {
    const jobs = Array.from(
      { length: JOBS },
      (_, at) => `j${at}: { run: "true", at: "03:${10 + at}" }`,
    );
    await none.ship('v1', '');
    await many.ship('v1', `jobs: { ${jobs.join(', ')} }\n`);
    const args = ['runner-jobs', 'run', '--due'];
    const figures = compare(
      [
        FLOOR,
        ours('an app without jobs', none.root, args, { strict: true }),
        ours(`an app with ${JOBS}, none of them due`, many.root, args, { strict: true }),
      ],
      ROUNDS,
    );
    const [, without, whole] = figures as [Figure, Figure, Figure];
    const all = [...figures, added('what the jobs add', whole, without, BUDGET)];
    conclude([printTable('Nothing is due', all)]);
  } finally {
    for (const world of [none, many]) await world.close();
  }
}

void main();
