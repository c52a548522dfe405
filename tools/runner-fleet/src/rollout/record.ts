/** The record of a rollout: in the broker, where it locks the app, and in a local file. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '@runner/common/cli/command';
import { isThere, makeFolder, namesIn, readIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { Failure } from '@runner/common/foundation/failure';
import { durationText } from '@runner/common/text/time';
import type { Broker, Stored } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import { removeOld } from '@runner/fleet/files/kept';
import { operatorFiles } from '@runner/fleet/files/operator';
import { type Rollout, rolloutOf } from './rollout.ts';

/** Between two renewals of a claim, in ms. */
const RENEW = 5_000;
/** How long to wait for the broker at the end, in ms. */
const END = 3_000;
/** A claim that was not renewed for this long belongs to a dead command, in ms. */
const DEAD = 30_000;
/** How long to watch whether a claim that looks dead is renewed, in case the clocks disagree, in ms. */
const LOOK_AGAIN = 8_000;
/** How long a local file is kept, in ms: as long as the broker keeps results. */
const KEPT = 90 * 24 * 3_600_000;

/** Claims an app while a rollout runs, and renews the claim. */
export class AppClaim {
  private readonly broker: Broker;
  private readonly root: string;
  private rollout: Rollout;
  private seq: number;
  private readonly timer: NodeJS.Timeout;
  /** Another command has written to the record: the rollout was cancelled or taken over. */
  lost = false;

  private constructor(broker: Broker, root: string, rollout: Rollout, seq: number) {
    this.broker = broker;
    this.root = root;
    this.rollout = rollout;
    this.seq = seq;
    this.timer = setInterval(() => void this.renew().catch(() => {}), RENEW);
  }

  /** Throws `rollout_running`. */
  static async take(broker: Broker, root: string, now: Date, rollout: Rollout): Promise<AppClaim> {
    const subject = subjects.rollout(rollout.app);
    const last = await broker.last('ROLLOUT', subject);
    if (isRunning(last, now)) throw running(last, now);
    if (rolloutOf(last?.text)?.state === 'running') {
      await pause(LOOK_AGAIN);
      if ((await broker.last('ROLLOUT', subject))?.seq !== last?.seq) throw running(last, now);
    }
    const seq = await broker.store(subject, JSON.stringify(rollout), last?.seq ?? 0);
    if (seq === undefined)
      throw new Failure('rollout_running', `another rollout of ${rollout.app} has just started`);
    removeOld(operatorFiles(root).rollouts, now, KEPT);
    keep(root, rollout);
    return new AppClaim(broker, root, rollout, seq);
  }

  private async renew(): Promise<void> {
    const subject = subjects.rollout(this.rollout.app);
    const store = () => this.broker.store(subject, JSON.stringify(this.rollout), this.seq);
    let seq = await store();
    while (seq === undefined) {
      // Still ours if two renewals met, or the broker's reply to one was lost.
      const last = await this.broker.last('ROLLOUT', subject);
      const newest = rolloutOf(last?.text);
      this.lost = newest?.rollout !== this.rollout.rollout || newest.state !== 'running';
      if (this.lost) return;
      this.seq = last?.seq ?? 0;
      seq = await store();
    }
    this.seq = seq;
  }

  /** Records that these servers are about to get the order; false if the claim is lost: do not send it. */
  async allows(servers: readonly string[]): Promise<boolean> {
    if (!this.lost) await this.renew().catch(() => {});
    if (this.lost) return false;
    this.rollout = { ...this.rollout, ordered: [...(this.rollout.ordered ?? []), ...servers] };
    keep(this.root, this.rollout);
    await this.renew().catch(() => {});
    return !this.lost;
  }

  async end(state: Rollout['state']): Promise<void> {
    clearInterval(this.timer);
    this.rollout = { ...this.rollout, state };
    keep(this.root, this.rollout);
    if (this.lost) return;
    // A broker that stalls must not hold up the end: the claim dies without it.
    await Promise.race([this.renew().catch(() => {}), pause(END, undefined, { ref: false })]);
  }
}

/** Throws `rollout_running`. */
export async function requireFree(broker: Broker, app: string, now: Date): Promise<void> {
  const last = await broker.last('ROLLOUT', subjects.rollout(app));
  if (isRunning(last, now)) throw running(last, now);
}

/** Whether the rollout's command was alive recently, if the clocks agree. */
function isRunning(last: Stored | undefined, now: Date): boolean {
  const age = now.getTime() - (last?.at.getTime() ?? 0);
  return rolloutOf(last?.text)?.state === 'running' && Math.abs(age) <= DEAD;
}

function running(last: Stored | undefined, now: Date): Failure {
  const { rollout, app, by, began } = rolloutOf(last?.text) as Rollout;
  const since = durationText(Math.max(0, now.getTime() - Date.parse(began)));
  return new Failure(
    'rollout_running',
    `${rollout} of ${app} by ${by} has been running for ${since}`,
  );
}

/** Whether the rollout was started on this machine: only then is its order not just what the broker says. */
export const isOurs = (root: string, { rollout }: Rollout): boolean =>
  isThere(join(operatorFiles(root).rollouts, `${rollout}.json`));

/** Writes the rollout to the operator's files. */
export function keep(root: string, rollout: Rollout): void {
  const { rollouts } = operatorFiles(root);
  makeFolder(rollouts);
  writeWhole(join(rollouts, `${rollout.rollout}.json`), `${JSON.stringify(rollout)}\n`, 0o640);
}

/** This operator's rollouts and the newest of each app in the broker, oldest first. */
export async function allRollouts(root: string, broker: Broker, now: Date): Promise<Rollout[]> {
  const { rollouts } = operatorFiles(root);
  const found = new Map<string, Rollout>();
  for (const name of namesIn(rollouts).filter((each) => /^r-[0-9a-f]{8}\.json$/.test(each))) {
    const one = rolloutOf(readIfThere(join(rollouts, name), 1_048_576)?.toString('utf8'));
    // If the local file still says running, its command was killed, unless the broker has a newer state.
    if (one)
      found.set(one.rollout, one.state === 'running' ? { ...one, state: 'interrupted' } : one);
  }
  for await (const stored of broker.all('ROLLOUT', 'runner.rollout.*')) {
    const one = rolloutOf(stored.text);
    const isDead = one?.state === 'running' && !isRunning(stored, now);
    // The broker could name another order as ours, for `resume` to sign.
    const ours = one && found.get(one.rollout);
    if (!one || (ours && ours.order.body !== one.order.body)) continue;
    found.set(one.rollout, isDead ? { ...one, state: 'interrupted' } : one);
  }
  return [...found.values()].sort((a, b) => (a.began < b.began ? -1 : 1));
}

/** Throws `rollout_not_found`. */
export async function requireRollout(
  { io, paths: { root } }: Pick<Context, 'io' | 'paths'>,
  broker: Broker,
  id: string,
): Promise<Rollout> {
  const found = (await allRollouts(root, broker, io.now())).find(({ rollout }) => rollout === id);
  if (found) return found;
  throw new Failure('rollout_not_found', `there is no rollout '${id}': see runner fleet rollouts`);
}

/** Throws `rollout_not_found` if there is a newer rollout of the app, which this one would undo. */
export async function requireNewest(broker: Broker, { app, rollout }: Rollout): Promise<void> {
  const newest = rolloutOf((await broker.last('ROLLOUT', subjects.rollout(app)))?.text);
  if (newest && newest.rollout !== rollout)
    throw new Failure(
      'rollout_not_found',
      `${rollout} is not the newest rollout of ${app}: ${newest.rollout} is`,
    );
}

/** Cancels a rollout: the command that runs it sends no further batch. Throws `rollout_not_found`. */
export async function cancelRollout(broker: Broker, { app, rollout }: Rollout): Promise<void> {
  const subject = subjects.rollout(app);
  for (;;) {
    const last = await broker.last('ROLLOUT', subject);
    const newest = rolloutOf(last?.text);
    if (newest?.rollout !== rollout || newest.state !== 'running')
      throw new Failure(
        'rollout_not_found',
        `${rollout} is not running: see runner fleet rollouts`,
      );
    const text = JSON.stringify({ ...newest, state: 'cancelled' });
    if ((await broker.store(subject, text, last?.seq ?? 0)) !== undefined) return;
  }
}
