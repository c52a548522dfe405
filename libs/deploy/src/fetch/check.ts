/** Asking for the head of an app's branch, and what it means for the app. */
import type { AppState, CommitChecks } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import type { DeployPolicy } from '@runner/common/config/settings';
import { Failure, systemFailure } from '@runner/common/foundation/failure';
import { openApi } from '@runner/common/hosts/open';
import { askChecks, CHECKS_LIMIT } from '../checks/ask.ts';
import { sourceOf } from '../git/open.ts';
import { remoteHead, versionOf } from '../git/remote.ts';
import { decide, type FetchResult, fetchResult } from './decide.ts';
import type { FetchRequest } from './request.ts';

/** Checks one app. Never throws: the trouble of one app must not stop the others. */
export async function check(
  request: FetchRequest,
  name: string,
  policy: DeployPolicy,
): Promise<FetchResult> {
  try {
    const app = requireApp(request.paths, name);
    const { source } = sourceOf(request, app);
    const { commit, tag } = await remoteHead(source);
    const version = versionOf(commit, tag);
    const asked = (checks?: CommitChecks) =>
      decide(app, commit, version, policy, request.io.now(), checks);
    const decided = asked();
    // A killed deploy is cleaned up first, and the gate asked under the lock.
    const isGated = decided.result === 'checking' || (app.require_checks && app.deploying);
    return isGated ? asked(await checksOf(request, app, commit)) : decided;
  } catch (error) {
    const { code, message } = asFailure(request, error);
    const text = code === 'network_error' ? `network error: ${message}` : message;
    return fetchResult(name, 'error', text, { error: code, status: 1 });
  }
}

async function checksOf({ io, paths }: FetchRequest, app: AppState, commit: string) {
  const api = await openApi({ paths, io }, app, CHECKS_LIMIT);
  return askChecks(api, app.repo, commit, app.checks);
}

/** One app must not stop the others: even a bug is reported as its error, with the stack. */
export function asFailure(
  { reporter }: Pick<FetchRequest, 'reporter'>,
  error: unknown,
): { code: string; message: string } {
  const known = systemFailure(error, 'go on');
  if (known instanceof Failure) return known;
  reporter.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return { code: 'bug', message: 'this is a bug in runner' };
}
