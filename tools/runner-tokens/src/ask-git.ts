/** Tests with `git ls-remote` whether git can read an app's repository with its token. */
import type { AppState } from '@runner/common/apps/state';
import { type CodeHost, gitBelongsToApi } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { Failure, type FailureCode, Interrupted } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { sourceOf } from '@runner/deploy/git/open';
import { listRefs } from '@runner/deploy/git/remote';
import { interruptionOf } from '@runner/deploy/report/interruption';

/** For git's answer, as for the API's, in milliseconds. */
const TIMEOUT = 10_000;

export interface GitVerdict {
  ok: boolean;
  /** Code of the error. */
  error: FailureCode | null;
  message: string | null;
}

/** Undefined if git's address may belong to a different host than the API's. */
export async function gitVerdict(
  { io, paths }: { io: Io; paths: Paths },
  app: AppState,
  host: CodeHost,
): Promise<GitVerdict | undefined> {
  if (!gitBelongsToApi(readConfig(paths), io.env, host)) return undefined;
  // A signal to this process must not leave git running.
  const interruption = interruptionOf(io);
  try {
    const { source } = sourceOf({ io, paths, signal: interruption.signal }, app);
    await listRefs(source, [`refs/heads/${app.branch}`], TIMEOUT);
    return { ok: true, error: null, message: null };
  } catch (error) {
    if (interruption.by) throw new Interrupted(interruption.by);
    if (!(error instanceof Failure)) throw error;
    return { ok: false, error: error.code, message: error.message };
  } finally {
    interruption.remove();
  }
}
