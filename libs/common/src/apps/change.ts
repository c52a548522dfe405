/** Changes the registry under its lock, always from the state on disk. */

import { holderFor, requireLock } from '../files/lock.ts';
import { sweepStrays } from '../files/write.ts';
import type { Server } from '../foundation/paths.ts';
import type { AppState } from './state.ts';
import { requireTrustedApp, writeApp } from './store.ts';

/** In seconds. */
const WAIT = 20;

export interface RegistryChange extends Server {
  readonly command: string;
  /** Longest wait for another command's change, in seconds. */
  readonly wait?: number | undefined;
}

/**
 * Runs `change` under the registry's lock. Throws `locked` after `wait` seconds, `guard_tripped` as root
 * in another user's root: files of root there would shut its owner out.
 */
export function changeRegistry<T>(
  { io, paths, command, wait = WAIT }: RegistryChange,
  change: () => T,
): T {
  using _lock = requireLock(paths.registryLock, 'the registry', wait, holderFor(io, command));
  for (const folder of [paths.stateDir, paths.viewDir]) sweepStrays(folder, io.now());
  return change();
}

/** Changes one app: `change` gets its state on disk and returns the state to write. */
export function changeApp(
  { app, ...rest }: RegistryChange & { readonly app: string },
  change: (app: AppState) => AppState,
): AppState {
  const { io, paths } = rest;
  return changeRegistry(rest, () => {
    const state = change(requireTrustedApp(paths, app));
    const changed = { ...state, updated_at: io.now().toISOString() };
    writeApp(paths, changed);
    return changed;
  });
}
