/** Changes the registry under its lock, always from the state on disk. */

import { holderFor, requireLock } from '../files/lock.ts';
import { sweepStrays } from '../files/write.ts';
import type { Io } from '../foundation/io.ts';
import type { Paths } from '../foundation/paths.ts';
import type { AppState } from './state.ts';
import { requireTrustedApp, writeApp } from './store.ts';

/** Longest wait for another command's change, in seconds. */
const WAIT = 20;

/**
 * Runs `change` under the registry's lock. Throws `locked` after `wait` seconds, `guard_tripped` as root
 * in another user's root: files of root there would shut its owner out.
 */
export function changeRegistry<T>(
  paths: Paths,
  io: Io,
  command: string,
  change: () => T,
  wait = WAIT,
): T {
  const lock = requireLock(paths.registryLock, 'the registry', wait, holderFor(io, command));
  try {
    sweepStrays(paths.stateDir, io.now());
    return change();
  } finally {
    lock.release();
  }
}

/** Changes one app: `change` gets its state on disk and returns the state to write. */
export function changeApp(
  paths: Paths,
  io: Io,
  command: string,
  name: string,
  change: (app: AppState) => AppState,
  wait = WAIT,
): AppState {
  const write = () => {
    const changed = {
      ...change(requireTrustedApp(paths, name)),
      updated_at: io.now().toISOString(),
    };
    writeApp(paths, changed);
    return changed;
  };
  return changeRegistry(paths, io, command, write, wait);
}
