/** A lock in the database itself, for the deploys of other servers: held by a session until it ends. */
import { createInterface } from 'node:readline';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { DatabaseAddress } from './address.ts';
import { startTool } from './tools.ts';

/** A session that holds the lock. */
export interface SessionLock {
  /** Whether another session has it now. Asking takes it if it is free. */
  isTaken(): Promise<boolean>;
  release(): void;
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
    ask: ({ name }: DatabaseAddress) =>
      `SELECT GET_LOCK(CONCAT('runner_', MD5('${name.replace(/[\\']/g, '_')}')), 0);\n`,
    yes: '1',
  },
};

/** A session on a server. One that cannot be opened holds nothing, and the lock is never taken. */
export function openSession(address: DatabaseAddress): SessionLock | undefined {
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
    isTaken: () =>
      new Promise((resolve) => {
        answer = resolve;
        if (isOver) resolve(false);
        else child.stdin?.write(ask(address));
      }),
    release() {
      child.stdin?.end();
    },
  };
}
