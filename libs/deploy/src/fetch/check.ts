/** Asking for the head of an app's branch, and what it means for the app. */
import { requireApp } from '@runner/common/apps/store';
import type { DeployPolicy } from '@runner/common/config/settings';
import { Failure, systemFailure } from '@runner/common/foundation/failure';
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
    return decide(app, commit, versionOf(commit, tag), policy, request.io.now());
  } catch (error) {
    const { code, message } = asFailure(request, error);
    const text = code === 'network_error' ? `network error: ${message}` : message;
    return fetchResult(name, 'error', text, { error: code, status: 1 });
  }
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
