/** The record of a rollout: in the broker, where it keeps others of the app away, and beside it in a file. */
import { join } from 'node:path';
import { makeFolder, namesIn, readIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { Failure } from '@runner/common/foundation/failure';
import { jsonObject } from '@runner/common/text/json';
import { durationText } from '@runner/common/text/time';
import type { Broker, Stored } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import { operatorFiles } from '@runner/fleet/files/operator';
import type { SealedOrder } from '@runner/fleet/order/order';

export interface Rollout {
  readonly rollout: string;
  readonly app: string;
  readonly by: string;
  readonly order: SealedOrder;
  readonly batches: readonly (readonly string[])[];
  readonly max_failures: number;
  readonly state: 'running' | 'done' | 'stopped' | 'incomplete' | 'interrupted' | 'cancelled';
  readonly began: string;
}

/** In ms: between two renewals, and the age at which a claim is of a dead command. */
const RENEW = 5_000;
const DEAD = 30_000;

export const rolloutOf = (text: string | undefined) =>
  jsonObject(text ?? '') as unknown as Rollout | undefined;

/** Keeps the claim of an app while a rollout runs. */
export class Claim {
  private readonly broker: Broker;
  private readonly root: string;
  private rollout: Rollout;
  private seq: number;
  private readonly timer: NodeJS.Timeout;
  /** Someone else has written to it: cancelled, or taken over. */
  lost = false;

  private constructor(broker: Broker, root: string, rollout: Rollout, seq: number) {
    this.broker = broker;
    this.root = root;
    this.rollout = rollout;
    this.seq = seq;
    this.timer = setInterval(() => void this.renew().catch(() => {}), RENEW);
  }

  /** Throws `rollout_running`. */
  static async take(broker: Broker, root: string, now: Date, rollout: Rollout): Promise<Claim> {
    const last = await broker.last('ROLLOUT', subjects.rollout(rollout.app));
    refuseRunning(last, now);
    const subject = subjects.rollout(rollout.app);
    const seq = await broker.store(subject, JSON.stringify(rollout), last?.seq ?? 0);
    if (seq === undefined)
      throw new Failure('rollout_running', `another rollout of ${rollout.app} began just now`);
    keep(root, rollout);
    return new Claim(broker, root, rollout, seq);
  }

  private async renew(): Promise<void> {
    const subject = subjects.rollout(this.rollout.app);
    const seq = await this.broker.store(subject, JSON.stringify(this.rollout), this.seq);
    if (seq === undefined) this.lost = true;
    else this.seq = seq;
  }

  /** Whether it is still ours. */
  async isHeld(): Promise<boolean> {
    if (!this.lost) await this.renew().catch(() => {});
    return !this.lost;
  }

  async end(state: Rollout['state']): Promise<void> {
    clearInterval(this.timer);
    this.rollout = { ...this.rollout, state };
    keep(this.root, this.rollout);
    if (!this.lost) await this.renew().catch(() => {});
  }
}

function refuseRunning(last: Stored | undefined, now: Date): void {
  const running = rolloutOf(last?.text);
  const age = now.getTime() - (last?.at.getTime() ?? 0);
  if (running?.state !== 'running' || age > DEAD) return;
  const { rollout, app, by } = running;
  const since = durationText(now.getTime() - Date.parse(running.began));
  throw new Failure('rollout_running', `${rollout} of ${app} runs, by ${by}, for ${since}`);
}

function keep(root: string, rollout: Rollout): void {
  const { rollouts } = operatorFiles(root);
  makeFolder(rollouts);
  writeWhole(join(rollouts, `${rollout.rollout}.json`), `${JSON.stringify(rollout)}\n`, 0o640);
}

/** The rollouts of this operator, oldest first, and the newest of each app in the broker. */
export async function allRollouts(root: string, broker: Broker | undefined): Promise<Rollout[]> {
  const { rollouts } = operatorFiles(root);
  const found = new Map<string, Rollout>();
  for (const name of namesIn(rollouts).filter((each) => /^r-[0-9a-f]{8}\.json$/.test(each))) {
    const one = rolloutOf(readIfThere(join(rollouts, name), 1_048_576)?.toString('utf8'));
    if (one) found.set(one.rollout, one);
  }
  for (let seq = 1; broker; ) {
    const stored = await broker.next('ROLLOUT', 'runner.rollout.*', seq);
    if (!stored) break;
    const one = rolloutOf(stored.text);
    if (one) found.set(one.rollout, one);
    seq = stored.seq + 1;
  }
  return [...found.values()].sort((a, b) => (a.began < b.began ? -1 : 1));
}

/** Throws `rollout_not_found`. */
export async function requireRollout(root: string, broker: Broker, id: string): Promise<Rollout> {
  const found = (await allRollouts(root, broker)).find(({ rollout }) => rollout === id);
  if (found) return found;
  throw new Failure('rollout_not_found', `there is no rollout ${id}: see runner fleet rollouts`);
}

/** Ends a rollout that may be another command's: it gives no further batch. */
export async function cancelRollout(broker: Broker, rollout: Rollout): Promise<void> {
  const subject = subjects.rollout(rollout.app);
  for (;;) {
    const last = await broker.last('ROLLOUT', subject);
    const text = JSON.stringify({ ...rollout, state: 'cancelled' });
    if ((await broker.store(subject, text, last?.seq ?? 0)) !== undefined) return;
  }
}
