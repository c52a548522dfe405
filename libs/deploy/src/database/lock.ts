/** The lock of a database: apps, instances and deploys whose URL leads to one database share it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { holderFor, holderOf, type Lock, takeLock } from '@runner/common/files/lock';
import type { Operation } from '../journal/operation.ts';
import { StepFailure } from '../run/step.ts';
import type { DatabaseAddress } from './address.ts';

/** Between two attempts, in ms. */
const POLL = 300;

/** Waits for at most `patience` ms. Throws a StepFailure. */
export async function lockDatabase(
  { io, paths, app, reporter, signal }: Operation,
  { fingerprint }: DatabaseAddress,
  patience: number,
): Promise<Lock> {
  const path = paths.databaseLock(fingerprint);
  const holder = { ...holderFor(io, `migrate ${app.app}`) };
  const until = io.elapsed() + patience;
  for (let attempt = 1; ; attempt += 1) {
    const lock = takeLock(path, 0, holder);
    if (lock) return lock;
    const { command = 'another deploy' } = holderOf(path);
    const words = `the database is being migrated: ${command}`;
    if (signal.aborted) throw refused('migrate: was interrupted');
    if (io.elapsed() >= until) throw refused(`migrate: ${words}`);
    if (attempt === 2) reporter.note(`${words}; waiting`);
    await sleep(POLL);
  }
}

function refused(words: string): StepFailure {
  return new StepFailure('migrate', words, { blame: 'operator' });
}
