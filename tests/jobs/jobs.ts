import type { JobWorld } from './world.ts';

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
