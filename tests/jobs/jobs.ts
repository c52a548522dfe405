/** What the short and the long tests of jobs share. */
import { suite } from 'uvu';
import { type JobWorld, makeJobWorld } from './world.ts';

export const [MINUTE, DAY] = [60_000, 86_400_000];

/** Daily, at this minute, or that of some hours before. */
export const dailyAt = (before: number) => {
  const time = new Date(Date.now() - before * 60 * MINUTE);
  return `cron: "${time.getUTCMinutes()} ${time.getUTCHours()} * * *"`;
};

/** A time is missed after five minutes: asked for in each test. */
export const dueNow = () => dailyAt(0);

export const newsOf = (world: JobWorld) =>
  world.events().flatMap(({ event_type: kind, job }) => (job ? [`${kind} ${job}`] : []));

export function jobsSuite(name: string) {
  const test = suite<{ world: JobWorld }>(name);
  test.before.each(async (context) => {
    context.world = await makeJobWorld();
  });
  test.after.each(({ world }) => world.close());
  return test;
}
