/** The operator's own `.deploy.yml`, in the state of its app. */
import type { Io } from '../foundation/io.ts';
import { initiatorOf } from '../foundation/user.ts';
import type { AppState } from './state.ts';

/** What it counts for: commits without one, or all; null without it. */
export type OperatorFileUse = 'fallback' | 'wins' | null;

/** What the operator's file of an app counts for. */
export function operatorFileOf({ deploy_file: file }: AppState): OperatorFileUse {
  if (!file) return null;
  return file.wins ? 'wins' : 'fallback';
}

/** What a new file changes in a state. Failures are forgotten: they may have come from the file. */
export function withOperatorFile(
  io: Io,
  file: { readonly text: string; readonly wins: boolean } | undefined,
): Pick<AppState, 'deploy_file' | 'failures' | 'attempts'> {
  const forgotten = { failures: null, attempts: null };
  if (!file) return { ...forgotten, deploy_file: undefined };
  const { text, wins } = file;
  const made = { text, since: io.now().toISOString(), by: initiatorOf(io, 'manual') };
  return { ...forgotten, deploy_file: wins ? { ...made, wins } : made };
}
