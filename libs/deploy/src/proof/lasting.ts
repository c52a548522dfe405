/** Waits for the answer of an app that was started, and sees whether it stays. */
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Started, Target } from '../instances/drivers/driver.ts';
import { loggedFailure, refuseInterrupted, StepFailure } from '../run/step.ts';
import { answersOf, isGood, type Listening, listeningOf, type PathAnswer } from './answer.ts';

/** Where the app answered. */
export interface ProvenAnswer extends PathAnswer {
  /** undefined: it listens on the port that it is given. */
  readonly fixed: Listening | undefined;
}

/** Longest wait for an answer, in milliseconds: as a start may take. */
const WITHIN = 60_000;
/** Longest wait for a good answer after another one, in milliseconds. */
const AFTER_ANSWER = 5_000;
/** It is asked again after this time, and has to live as long after that, in milliseconds. */
const LASTS = 1_000;
const POLL = 200;

/**
 * Asks on the paths of `asks`, the most likely first, until there is a good answer that lasts. Throws a
 * StepFailure that says what there was instead.
 */
export async function provenAnswer(
  target: Target,
  started: Started,
  { asks, signal }: { readonly asks: readonly string[]; readonly signal: AbortSignal },
  given: number,
): Promise<ProvenAnswer> {
  let until = performance.now() + WITHIN;
  let seen = 'it did not listen on any port: of a worker, remove PORT and health';
  const pause = async (when?: string) => {
    await sleep(POLL, undefined, { signal }).catch(() => {});
    mustLive(target, started, signal, when);
  };
  for (;;) {
    const pids = started.pids?.() ?? [];
    for (const at of listeningOf(pids, given, target.release)) {
      const answers = await answersOf(at, asks);
      const good = answers.find(({ status }) => isGood(status));
      if (good) {
        await lasts(at, good, pause);
        return { ...good, fixed: 'port' in at && at.port === given ? undefined : at };
      }
      const all = answers.map(({ path, status }) => `${path} ${status}`).join(', ');
      if (all) until = Math.min(until, performance.now() + AFTER_ANSWER);
      seen = `it listens on ${placeOf(at, given, target.release)}, and ${
        all ? `no path answered with 200 to 299: ${all}` : 'did not answer there'
      }`;
    }
    mustLive(target, started, signal);
    if (performance.now() > until) throw new StepFailure('health', `health: ${seen}`);
    await pause();
  }
}

function placeOf(at: Listening, given: number, release: string): string {
  if ('socket' in at) return relative(release, at.socket);
  return at.port === given ? 'PORT' : `port ${at.port}`;
}

/** It goes on living, and the next answer is good too: some apps answer once, and exit or fail. */
async function lasts(
  at: Listening,
  { path, status }: PathAnswer,
  pause: (when: string) => Promise<void>,
): Promise<void> {
  const first = `GET ${path} with ${status}`;
  const lives = async () => {
    const until = performance.now() + LASTS;
    while (performance.now() < until) await pause(` after it had answered ${first}`);
  };
  await lives();
  const [next] = await answersOf(at, [path]);
  await lives();
  if (next && isGood(next.status)) return;
  const then = next ? `with ${next.status}` : 'not at all';
  throw new StepFailure('health', `health: it answered ${first}, and a second later ${then}`);
}

/** Throws a StepFailure if it has died, or if that does not matter any more. */
function mustLive({ log }: Target, started: Started, signal: AbortSignal, when = ''): void {
  const death = started.death();
  if (death) throw loggedFailure(log, 'start', `start: ${death.words}${when}`, death.output);
  refuseInterrupted(signal, 'start');
}
