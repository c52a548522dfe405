/** Changing the registry: every change is made under one lock, from what is on disk at that moment. */

import { requireLock } from '../files/lock.ts';
import { sweepStrays } from '../files/write.ts';
import type { Io } from '../foundation/io.ts';
import type { Paths } from '../foundation/paths.ts';
import type { AppState } from './state.ts';
import { requireApp, writeApp } from './store.ts';

/** Longest wait for another command's change, in seconds; a change takes milliseconds. */
const WAIT = 20;

/** Runs `change` while no other command can change the registry. Throws `locked` after `wait` seconds. */
export function changeRegistry<T>(
  paths: Paths,
  io: Io,
  command: string,
  change: () => T,
  wait = WAIT,
): T {
  const holder = { pid: io.pid, command, since: io.now().toISOString() };
  const lock = requireLock(paths.registryLock, 'the registry', wait, holder);
  try {
    sweepStrays(paths.stateDir, io.now());
    return change();
  } finally {
    lock.release();
  }
}

/** Changes one registered app; `change` gets it as it is on disk now and returns what to write. */
export function changeApp(
  paths: Paths,
  io: Io,
  command: string,
  name: string,
  change: (app: AppState) => AppState,
  wait = WAIT,
): AppState {
  const write = () => {
    const changed = { ...change(requireApp(paths, name)), updated_at: io.now().toISOString() };
    writeApp(paths, changed);
    return changed;
  };
  return changeRegistry(paths, io, command, write, wait);
}
