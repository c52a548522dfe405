/** Half a year of made-up deploys as records of the audit log. */
import { AUTHORS, BUILD_CAUSES, HABITS, type Habit, HEALTH_CAUSES, SUBJECTS } from './apps.ts';

export const DAY = 86_400_000;
const HOUR = 3_600_000;

/** A record of the audit log. */
export type MadeUp = Record<string, unknown>;

export interface Active {
  readonly version: string;
  readonly commit: string;
  readonly at: number;
  readonly id: string;
}

/** An app in the course of the history. */
interface Life {
  readonly habit: Habit;
  minor: number;
  patch: number;
  active: Active | undefined;
}

/**
 * All records in the order of time, and what is active at the end: the same for the same day up to the numbers
 * of `random`.
 */
export function madeUpHistory(until: number, days: number, random: () => number) {
  const story = new Story(random);
  const lives = HABITS.map((habit): Life => {
    return { habit, minor: 0, patch: 0, active: undefined };
  });
  const first = Math.floor(until / DAY) * DAY - days * DAY;
  for (let day = first; day < until; day += DAY) {
    const weekend = [0, 6].includes(new Date(day).getUTCDay());
    for (const life of lives) {
      const rate = life.habit.perDay * (weekend ? 0.06 : 1.25);
      const times: number[] = [];
      for (let chance = rate; chance > 0; chance -= 1) {
        const at = day + 7.5 * HOUR + (random() + random()) * 5 * HOUR;
        if (random() < chance && at < until - HOUR) times.push(at);
      }
      for (const at of times.sort((a, b) => a - b))
        story.deploy(life, at, (at - first) / (until - first));
    }
  }
  story.records.sort((a, b) => (String(a.timestamp) < String(b.timestamp) ? -1 : 1));
  const active = lives.flatMap(({ habit, active }) =>
    active ? [[habit.app, active] as const] : [],
  );
  return { records: story.records, active: new Map(active) };
}

class Story {
  readonly records: MadeUp[] = [];
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }

  #hex(length: number): string {
    return Array.from({ length }, () => Math.floor(this.#random() * 16).toString(16)).join('');
  }

  #numbered(text: string): string {
    return text.replaceAll('#', () => String(1 + Math.floor(this.#random() * 9)));
  }

  /** One deploy; `progress` is the part of the half year that has passed. */
  deploy(life: Life, at: number, progress: number): void {
    const { habit } = life;
    if (this.#random() < 0.25) [life.minor, life.patch] = [life.minor + 1, 0];
    else life.patch += 1;
    const version = `v${habit.major}.${life.minor}.${life.patch}`;
    const [commit, id] = [this.#hex(40), this.#hex(8)];
    const manual = this.#random() < 0.2;
    const user = manual ? this.#pick(['ada', 'jonas', 'mina']) : 'timer';
    const own = {
      version,
      commit,
      deploy_id: id,
      user,
      trigger: manual ? 'manual' : 'fetch',
      subject: this.#pick(SUBJECTS),
      author: this.#pick(AUTHORS),
      committed_at: new Date(at - (4 + this.#random() ** 3 * 900) * 60_000).toISOString(),
      ...(life.active && { previous_version: life.active.version }),
    };
    const add = (event_type: string, time: number, more: MadeUp = {}) => {
      for (const instance of habit.instances)
        this.records.push({
          timestamp: new Date(time).toISOString(),
          event_type,
          project: habit.app,
          instance,
          ...own,
          instances: habit.instances,
          ...more,
        });
    };
    add('DeployStarted', at);
    const steps = this.#steps(habit, progress);
    const took = steps.reduce((sum, { ms }) => sum + ms, 0);
    const chance = this.#random();
    const now = { version, commit, at: at + took, id };
    if (chance < habit.failing) this.#failBuild(add, at, steps);
    else if (chance < habit.failing + habit.unhealthy)
      this.#failHealth(add, at, steps, {
        from: version,
        to: life.active?.version ?? version,
      });
    else if (chance > 0.992) {
      const ended = { stage: 'build', interrupted: true, error: 'interrupted by SIGINT' };
      add('DeployFailure', at + took / 3, { ...ended, duration_ms: Math.round(took / 3) });
    } else {
      add('DeploySuccess', at + took, { duration_ms: took, steps });
      if (life.active && chance > 0.965) this.#goBack(life, now);
      else life.active = now;
    }
  }

  /** The build grows slower for months, until somebody caches it; a few deploys are outliers. */
  #steps({ usual }: Habit, progress: number): { stage: string; ms: number }[] {
    const trend = progress < 0.72 ? 0.8 + progress * 1.1 : 0.75;
    const outlier = this.#random() < 0.012 ? 4 + this.#random() * 6 : 1;
    const part = (share: number) =>
      Math.round(usual * share * (0.75 + this.#random() * 0.5) + this.#random() * 400);
    return [
      { stage: 'fetch', ms: part(0.03) },
      { stage: 'checkout', ms: part(0.04) },
      { stage: 'build', ms: Math.round(part(0.7) * trend * outlier) },
      { stage: 'start', ms: part(0.08) },
      { stage: 'health', ms: part(0.1) },
    ];
  }

  #failBuild(add: Add, at: number, steps: readonly { stage: string; ms: number }[]): void {
    const [stage, text] = this.#pick(BUILD_CAUSES);
    const cause = this.#numbered(text);
    const took = steps.slice(0, 3).reduce((sum, { ms }) => sum + ms, 0);
    const error = `${stage}: npm run ${stage} exited with 1\n${cause}`;
    add('DeployFailure', at + took, {
      stage,
      error,
      cause,
      duration_ms: took,
      steps: steps.slice(0, 3),
    });
  }

  #failHealth(
    add: Add,
    at: number,
    steps: readonly { stage: string; ms: number }[],
    { from, to }: Readonly<{ from: string; to: string }>,
  ): void {
    const cause = this.#numbered(this.#pick(HEALTH_CAUSES));
    const took = steps.reduce((sum, { ms }) => sum + ms, 0) + 30_000;
    const failed = {
      stage: 'health',
      error: cause,
      cause,
      rolled_back: true,
      duration_ms: took,
      steps,
    };
    add('DeployFailure', at + took, failed);
    const back = { version: to, from_version: from, reason: 'health' };
    add('RollbackSuccess', at + took + 900 + this.#random() * 4000, back);
  }

  /** An operator goes back to the version before. */
  #goBack({ habit, active }: Life, left: Active): void {
    const at = new Date(left.at + (0.1 + this.#random() * 3) * HOUR).toISOString();
    const id = this.#hex(8);
    for (const instance of habit.instances)
      this.records.push({
        timestamp: at,
        event_type: 'RollbackSuccess',
        project: habit.app,
        instance,
        instances: habit.instances,
        version: active?.version,
        from_version: left.version,
        deploy_id: id,
        user: 'ada',
        reason: 'by hand',
        duration_ms: 1_200,
      });
  }
}

type Add = (event_type: string, time: number, more?: MadeUp) => void;
