/** The lock of a database: apps, instances and deploys whose URL leads to one database share it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { holderFor, type Lock, liveHolder, takeLock } from '@runner/common/files/lock';
import type { Operation } from '../journal/operation.ts';
import { StepFailure } from '../run/step.ts';
import type { DatabaseAddress } from './address.ts';
import { openSession } from './session-lock.ts';

/** Between two attempts, in ms. */
const POLL = 300;
/** A server that does not answer counts as one that has it, after this many ms. */
const SILENCE = 2_000;

/** Waits for at most `patience` ms. Throws a StepFailure. */
export async function lockDatabase(
  op: Operation,
  address: DatabaseAddress,
  patience: number,
): Promise<Pick<Lock, 'release'>> {
  const { io, paths, app } = op;
  const path = paths.databaseLock(address.fingerprint);
  const holder = { ...holderFor(io, `migrate ${app.app}`) };
  const until = io.elapsed() + patience;
  const own = await polled(
    op,
    until,
    async () => takeLock(path, 0, holder),
    () => liveHolder(path)?.command ?? 'another deploy',
  );
  const session = openSession(address);
  const release = () => {
    session?.release();
    own.release();
  };
  try {
    if (session)
      await polled(
        op,
        until,
        async () => {
          const isTaken = await Promise.race([
            session.isTaken(),
            sleep(SILENCE, true, { ref: false }),
          ]);
          return isTaken ? undefined : true;
        },
        () => 'another server, or another app with another URL of it',
      );
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

/** Asks until there is an answer. Throws a StepFailure. */
async function polled<T>(
  { io, reporter, signal }: Operation,
  until: number,
  ask: () => Promise<T | undefined>,
  holder: () => string,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await ask();
    if (found !== undefined) return found;
    const words = `the database is being migrated: ${holder()}`;
    if (signal.aborted) throw refused('migrate: was interrupted');
    if (io.elapsed() >= until) throw refused(`migrate: ${words}`);
    if (attempt === 2) reporter.note(`${words}; waiting`);
    await sleep(POLL);
  }
}

function refused(words: string): StepFailure {
  return new StepFailure('migrate', words, { blame: 'operator' });
}
