/** Which server runs a job of `on: one`: the newest message of the job's subject says so. */
import { Failure } from '@runner/common/foundation/failure';
import * as f from '../order/fields.ts';
import { serverField } from '../order/order.ts';
import type { Broker } from './broker.ts';
import { subjects } from './subjects.ts';

/** The newest claim of a job, as JSON: what a server wants to run. */
const claimField = f.object({
  server: serverField,
  /** The time that the run is for; null: an operator begins it. */
  due: f.nullable(f.timeField),
  /** Of the run. */
  id: f.text(200),
  /** Over by then, also if the server is never heard of again. */
  until: f.timeField,
  ended: f.flag,
  /** Not every agent writes it. */
  token: f.optional(f.whole(0)),
});
export type HeldClaim = f.ValueOf<typeof claimField>;
export type JobClaim = Omit<HeldClaim, 'ended' | 'token'>;

/** `token`: larger than that of every claim before. `taken`: another server has this time, or a later one. */
export type ClaimAnswer = { readonly result: 'claimed'; readonly token: number } | RefusedClaim;

interface RefusedClaim {
  readonly result: 'taken' | 'running';
  readonly server: string;
}

/** A due time further ahead, in ms, is junk: no clock is that wrong. */
const AHEAD_MAX = 86_400_000;
/** Servers that claim at the same moment. */
const TRIES = 100;

/** A job, as the broker knows it. */
export interface ClaimedJob {
  readonly app: string;
  readonly job: string;
}

async function newest(broker: Broker, { app, job }: ClaimedJob) {
  const stored = await broker.last('JOBS', subjects.job(app, job));
  const held = stored && f.parsedValue(stored.text, claimField);
  return { seq: stored?.seq ?? 0, held };
}

/** Who has the run: another server, or the one that wants it once this is stored. */
export function answerTo(
  held: HeldClaim | undefined,
  wanted: JobClaim,
  now: Date,
): HeldClaim | RefusedClaim {
  const { server, due, until } = wanted;
  const isJunk = Date.parse(held?.due ?? '') > now.getTime() + AHEAD_MAX;
  const known = isJunk ? undefined : held;
  const other = known?.server === server ? undefined : known;
  // The same time may be asked for again by the server that has it: it was killed in between.
  if (due !== null && known?.due && (other ? known.due >= due : known.due > due))
    return { result: 'taken', server: known.server };
  if (other && !other.ended && Date.parse(other.until) > now.getTime())
    return { result: 'running', server: other.server };
  return { ...wanted, due: due ?? known?.due ?? null, ended: Date.parse(until) <= now.getTime() };
}

/**
 * Larger than the token before, and not below the clock in ms: a broker that lost its store knows none. One that is
 * further ahead than a clock can be is junk.
 */
export function tokenAfter(held: Pick<HeldClaim, 'token'> | undefined, now: Date): number {
  const last = held?.token ?? 0;
  const isJunk = last > now.getTime() + AHEAD_MAX;
  return Math.max(isJunk ? 0 : last + 1, now.getTime());
}

/** Asks for the run. Throws `broker_unreachable`, `broker_unsafe`. */
export async function claimJob(
  broker: Broker,
  job: ClaimedJob,
  wanted: JobClaim,
  now: Date,
): Promise<ClaimAnswer> {
  for (let tries = 1; ; tries += 1) {
    const { seq, held } = await newest(broker, job);
    const answer = answerTo(held, wanted, now);
    if ('result' in answer) return answer;
    const subject = subjects.job(job.app, job.job);
    const token = tokenAfter(held, now);
    const stored = await broker.store(subject, JSON.stringify({ ...answer, token }), seq);
    if (stored !== undefined) return { result: 'claimed', token };
    if (tries === TRIES) throw new Failure('broker_unreachable', 'all servers ask at once');
  }
}

/** The run is over: the next one may begin on another server. Throws as `claimJob`. */
export async function endJob(broker: Broker, job: ClaimedJob, id: string): Promise<void> {
  const { seq, held } = await newest(broker, job);
  if (held?.id !== id || held.ended) return;
  await broker.store(subjects.job(job.app, job.job), JSON.stringify({ ...held, ended: true }), seq);
}
