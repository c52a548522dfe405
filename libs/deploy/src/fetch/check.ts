/** Asking for the head of what an app follows, and what it means for the app. */

import type { CommitChecks } from '@runner/common/apps/checks';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import type { DeployPolicy } from '@runner/common/config/settings';
import { type Holder, liveHolder } from '@runner/common/files/lock';
import { onFailure } from '@runner/common/foundation/attempt';
import { Failure, systemFailure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { openApi } from '@runner/common/hosts/open';
import { isRefusal } from '../alerts/unfetched.ts';
import { askChecks, CHECKS_LIMIT } from '../checks/ask.ts';
import { sourceOf } from '../git/open.ts';
import { fetchWanted } from '../git/ref.ts';
import { headOf, noHead, versionOf } from '../git/remote.ts';
import { underLock } from '../journal/lock.ts';
import { approvalFor } from '../plan/wanted.ts';
import { requireSigned } from '../signed/require.ts';
import { decide, decideRestored, type FetchResult, fetchResult } from './decide.ts';
import { type LookedAt, sameFor, whyKept } from './follow.ts';
import type { FetchRequest } from './request.ts';
import type { Shared } from './shared.ts';
import { afterAge } from './young.ts';

/** Checks one app. Never throws: the trouble of one app must not stop the others. */
export async function check(
  request: FetchRequest,
  name: string,
  policy: DeployPolicy,
  shared: Shared,
): Promise<FetchResult> {
  try {
    const app = requireApp(request.paths, name);
    const restored = decideRestored(app, policy, request.io.now());
    if (restored) return restored;
    const { source } = sourceOf(request, app);
    const { refs } = await shared.list(source);
    const head = await headOf(source, refs);
    const { io, paths } = request;
    const locked = <T>(work: () => Promise<T>) =>
      underLock({ io, paths, app: name }, 'fetch', work, 'fetch');
    const looked = { app, source, locked };
    const refusal = await refusalOf(request, looked);
    const kept = await whyKept(app, refs, head);
    // A deploy refuses a tag that was moved.
    const isRefused = request.deploy && app.require_signed && kept?.result === 'tag_moved';
    if (kept && !app.deploying)
      return fetchResult(name, kept.result, kept.text, { status: isRefused ? 1 : 0, refusal });
    if (!head) throw noHead(source);
    const { commit, tag } = head;
    const same = await sameFor(looked, commit, shared.lenders);
    const found = { commit, version: versionOf(commit, tag), same };
    const asked = (checks?: CommitChecks) =>
      decide(app, { ...found, checks }, policy, request.io.now());
    let decided = asked();
    // A killed deploy is cleaned up first, and the gate asked under the lock.
    if (decided.result === 'checking') decided = asked(await checksOf(request, app, commit));
    else if (app.require_checks && app.deploying)
      decided = asked(await checksOf(request, app, commit).catch(() => undefined));
    const aged = await afterAge(request, looked, decided);
    return { ...(await afterApproval(request, looked, aged)), refusal };
  } catch (error) {
    const { code, message } = asFailure(request, error);
    if (code === 'locked') return skipped(request.paths, name);
    const text = code === 'network_error' ? `network error: ${message}` : message;
    return fetchResult(name, 'error', text, { error: code, status: 1 });
  }
}

/** Looks again at a head that was refused for its signatures or its line. */
async function refusalOf(
  request: FetchRequest,
  { app, source, locked }: LookedAt,
): Promise<FetchResult['refusal']> {
  if (!app.require_signed || !isRefusal(app.check_failed?.error)) return undefined;
  const asked = { paths: request.paths, source, app, now: request.io.now() };
  const signed = locked(async () => requireSigned(asked, await fetchWanted(source, undefined)));
  const refused = onFailure((failure) => (isRefusal(failure.code) ? failure : undefined));
  return signed.then(() => null, refused);
}

async function checksOf({ io, paths }: FetchRequest, app: AppState, commit: string) {
  const api = await openApi({ paths, io }, app, CHECKS_LIMIT);
  return askChecks(api, app.repo, commit, app.checks);
}

/** Another command has the lock of the app. */
export function skipped(paths: Paths, app: string, about: Partial<FetchResult> = {}): FetchResult {
  const by: Holder = liveHolder(paths.lock(app)) ?? {};
  const { deploy_id: id, command = 'another command' } = by;
  const holder = typeof id === 'string' ? `deploy ${id}` : command;
  return fetchResult(app, 'skipped', `skipped: ${holder} running`, about);
}

/** One app must not stop the others: even a bug is reported as its error, with the stack. */
export function asFailure(
  { reporter }: Pick<FetchRequest, 'reporter'>,
  error: unknown,
): { code: string; message: string; commit?: string } {
  const known = systemFailure(error, 'go on');
  if (known instanceof Failure) {
    const { code, message, facts } = known;
    return { code, message, ...(typeof facts.commit === 'string' && { commit: facts.commit }) };
  }
  reporter.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return { code: 'bug', message: 'this is a bug in runner' };
}

/** A decision to deploy a commit becomes `approval` until its plan has them. */
async function afterApproval(
  request: FetchRequest,
  { app, locked }: LookedAt,
  decided: FetchResult,
): Promise<FetchResult> {
  const { commit, version, result } = decided;
  if (result !== 'new_commit' || commit === null || app.deploying || !request.deploy)
    return decided;
  const found = await approvalFor({ ...request, by: 'fetch', verb: 'deploy', app, commit, locked });
  if (!found) return decided;
  if ('plan' in found) return { ...decided, plan: found.plan };
  return { ...decided, result: 'approval', text: `${version} ${found.waits}` };
}
