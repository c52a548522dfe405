/**
 * The lock of a database: apps, instances and deploys whose URL leads to one database share it, and in the
 * database itself the deploys of other servers.
 */
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { holderFor, liveHolder, takeLock } from '@runner/common/files/lock';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Operation } from '../journal/operation.ts';
import type { DatabaseAddress } from './address.ts';
import { refused } from './context.ts';
import { startTool } from './tools.ts';

/** Between two attempts, in ms. */
const POLL = 300;
/** A server that does not answer counts as one that has it, after this many ms. */
const SILENCE = 2_000;

/** Does something under the lock, whose descriptor it gets, after at most `patience` ms. Throws a StepFailure. */
export async function underDatabaseLock<T>(
  op: Operation,
  address: DatabaseAddress,
  patience: number,
  work: (lock: number) => Promise<T>,
): Promise<T> {
  const { io, paths, app } = op;
  const path = paths.databaseLock(address.aliases[0] ?? address.fingerprint);
  const holder = { ...holderFor(io, `migrate ${app.app}`) };
  const until = io.elapsed() + patience;
  const own = await polled(
    op,
    until,
    async () => takeLock(path, 0, holder),
    () => liveHolder(path)?.command ?? 'another deploy',
  );
  const session = openSession(address);
  const askSession = async () => {
    const silence = sleep(SILENCE, true, { ref: false });
    return (await Promise.race([session?.isTaken(), silence])) ? undefined : true;
  };
  try {
    if (session)
      await polled(
        op,
        until,
        askSession,
        () => 'another server, or another app with another URL of it',
      );
    return await work(own.fd);
  } finally {
    session?.release();
    own.release();
  }
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
    if (signal.aborted) throw refused('was interrupted');
    if (io.elapsed() >= until) throw refused(words);
    if (attempt === 2) reporter.note(`${words}; waiting`);
    await sleep(POLL);
  }
}

/** Ours in each database of PostgreSQL; MySQL's are of the whole server. */
const KEY = 7_214_091_836;
const WORDS = {
  // For the time of a transaction: a pool of connections keeps what a session has taken.
  postgres: {
    args: ['-X', '-q', '-A', '-t', '-w', '-v', 'ON_ERROR_STOP=1', '-f', '-'],
    // Without a snapshot: CREATE INDEX CONCURRENTLY waits for those that are held.
    first:
      'BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = 0;\n',
    ask: () => `SELECT pg_try_advisory_xact_lock(${KEY});\n`,
    yes: 't',
  },
  mysql: {
    args: ['--batch', '--skip-column-names', '--unbuffered'],
    first: '',
    // Not the server's own MD5, which MySQL 9.6 no longer has.
    ask: ({ name }: DatabaseAddress) =>
      `SELECT GET_LOCK('runner_${createHash('md5').update(name).digest('hex')}', 0);\n`,
    yes: '1',
  },
};

/** A session on a server, whose end ends its lock. One that cannot be opened holds nothing, and the lock is never taken. */
function openSession(address: DatabaseAddress) {
  const { kind } = address;
  if (kind === 'sqlite') return undefined;
  const { args, first, ask, yes } = WORDS[kind];
  const started = unlessFailure(() => startTool(address, 'client', { args }), undefined);
  if (!started) return undefined;
  const { child } = started;
  let isOver = false;
  let answer: ((isTaken: boolean) => void) | undefined;
  const end = () => {
    isOver = true;
    answer?.(false);
  };
  child.once('error', end);
  child.once('close', end);
  child.stdin?.on('error', () => {});
  child.stderr?.resume();
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (line) => answer?.(line.trim() !== yes));
  child.stdin?.write(first);
  return {
    /** Whether another session has it now. Asking takes it if it is free. */
    isTaken: () =>
      new Promise<boolean>((resolve) => {
        answer = resolve;
        if (isOver) resolve(false);
        else child.stdin?.write(ask(address));
      }),
    release: () => child.stdin?.end(),
  };
}
