/** Whether a commit may be deployed: signed by someone root named, and after the last accepted one. */
import { withApprovals } from '@runner/common/apps/plan-words';
import type { AcceptedCommit, SignedBy, SignedFacts } from '@runner/common/apps/signed';
import type { AppState, TagRule } from '@runner/common/apps/state';
import { onFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import type { ResolvedRef } from '../git/ref.ts';
import { fetchById } from '../git/remote.ts';
import type { GitSource } from '../git/source.ts';
import { orderOf } from '../git/tags.ts';
import { judge, type Verdict } from './judge.ts';
import { type RawObject, withObjects } from './objects.ts';
import { parseCommit, parseTag } from './parse-object.ts';
import { freshCommits, type Judging, judgeCommit, type RefusedCommit } from './range.ts';
import { type CommitSigners, readSigners } from './signers.ts';

/** The app and its repository, into whose mirror the commit was fetched. */
export interface SignedRequest {
  readonly paths: Paths;
  readonly source: GitSource;
  readonly app: AppState;
  readonly now: Date;
  /** The branch, tag or commit that was asked for, rather than what the app follows. */
  readonly ref?: string | undefined;
  /** An operator lets the commit leave the line of the last accepted one. */
  readonly acceptRewrite?: boolean | undefined;
}

/**
 * Checks the commit that is to be deployed; nothing is asked of an app without `require_signed`. Throws
 * `commit_not_signed`, `lineage_broken`, `signers_invalid`, and what fetching throws.
 */
export async function requireSigned(
  request: SignedRequest,
  wanted: ResolvedRef,
): Promise<SignedFacts> {
  const { app, paths, source, now, ref, acceptRewrite } = request;
  const { require_signed: required, accepted } = app;
  if (!required) return {};
  const signers = readSigners(paths);
  const signed_by = await headSigner(request, signers, wanted);
  if (!accepted) return { signed_by };
  const range = { head: wanted.commit, accepted: accepted.commit };
  const judging = required === 'strict' ? { signers, now } : undefined;
  const { descends, refused } = await freshCommits(source, range, judging);
  const broken =
    (await tagWords(app.tags, accepted, wanted)) ??
    (descends ? undefined : 'does not descend from it');
  if (broken !== undefined && !acceptRewrite) {
    const line = `the last accepted commit of '${app.app}' is ${short(accepted.commit)}, and ${short(wanted.commit)} ${broken}`;
    const asked = ref === undefined ? '' : ` --ref ${word(ref)}`;
    const typed = `runner deploy ${app.app}${asked} --accept-rewrite`;
    const fix = `to deploy it anyway: ${withApprovals(paths, app.app, [], typed)}`;
    throw new Failure('lineage_broken', `${line}; ${fix}`, { commit: wanted.commit });
  }
  refuseUnsigned(
    refused.filter(({ id }) => id !== wanted.commit),
    wanted,
  );
  const again = accepted.commit === wanted.commit ? accepted.rewrite_of : undefined;
  const rewrite_of = broken === undefined ? again : accepted.commit;
  return { signed_by, ...(rewrite_of !== undefined && { rewrite_of }) };
}

/** Who signed a commit that need not be signed any more; empty if no key that is listed now did. */
export async function signerNow(
  { app, paths, source, now }: SignedRequest,
  wanted: ResolvedRef,
): Promise<SignedFacts> {
  if (!app.require_signed) return {};
  const verdictNow = async () => headVerdict(source, { signers: readSigners(paths), now }, wanted);
  const verdict = await verdictNow().catch(onFailure(() => ({})));
  return 'signed_by' in verdict ? { signed_by: verdict.signed_by } : {};
}

const short = (id: string) => id.slice(0, 12);

function refuseUnsigned([first, ...more]: readonly RefusedCommit[], { commit }: ResolvedRef): void {
  if (!first) return;
  const others = more.length === 0 ? '' : `, and ${more.length} more are refused`;
  const message = `the commit ${short(first.id)} ${first.why}${others}`;
  throw new Failure('commit_not_signed', message, { commit });
}

/** Why a tag goes back, whatever its commit descends from. */
async function tagWords(
  rule: TagRule | undefined,
  { version, commit: before }: AcceptedCommit,
  { tag, version: next, commit }: ResolvedRef,
): Promise<string | undefined> {
  if (tag === undefined) return undefined;
  if (next === version)
    return before === commit ? undefined : `is where the tag ${next} was moved to`;
  // A version without a tag is the beginning of its commit.
  if (!rule || before.startsWith(version)) return undefined;
  const order = await orderOf(rule);
  const isLower = order.names(version) && order.names(next) && order.compare(next, version) < 0;
  return isLower ? `has the tag ${next}, which is lower than ${version}` : undefined;
}

async function headSigner(
  { source, now }: SignedRequest,
  signers: CommitSigners,
  wanted: ResolvedRef,
): Promise<SignedBy> {
  const { what, ...verdict } = await headVerdict(source, { signers, now }, wanted);
  if ('signed_by' in verdict) return verdict.signed_by;
  const { commit } = wanted;
  throw new Failure('commit_not_signed', `the ${what} ${verdict.why}`, { commit });
}

/** Judges the annotated tag that was chosen, which covers its commit, else the commit; `what` names it. */
export async function headVerdict(
  source: GitSource,
  { signers, now }: Judging,
  { commit, tag, refs }: Pick<ResolvedRef, 'commit' | 'tag' | 'refs'>,
): Promise<Verdict & { what: string }> {
  const listed = tag !== undefined && refs.find(([, name]) => name === tag)?.[0];
  const id = listed || commit;
  const name = tag?.slice('refs/tags/'.length) ?? '';
  const read = () => withObjects(source, (reader) => reader.read(id));
  let object = await read();
  if (!object) await fetchById(source, id);
  object ??= await read();
  const verdict = await objectVerdict({ signers, now }, object, { id, commit, name });
  return { ...verdict, what: id === commit ? `commit ${short(commit)}` : `tag ${name}` };
}

async function objectVerdict(
  judging: Judging,
  object: RawObject | undefined,
  { id, commit, name }: { id: string; commit: string; name: string },
): Promise<Verdict> {
  if (object?.type === 'commit' && id === commit)
    return judgeCommit(judging, { ...parseCommit(object.body), id });
  const tag = object?.type === 'tag' ? parseTag(object.body) : undefined;
  if (tag?.object !== commit || tag.type !== 'commit' || tag.name !== name)
    return { why: 'is not the tag of its commit' };
  return judge(judging.signers, tag, judging.now);
}
