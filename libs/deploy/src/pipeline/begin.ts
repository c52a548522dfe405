/** A deploy before it changes anything: the commit, and DeployStarted. */

import type { ChangeSummary } from '@runner/common/apps/deployed';
import { followedWords } from '@runner/common/apps/following';
import { isCommitOf, type PreviewMark } from '@runner/common/apps/preview';
import type { SignedFacts } from '@runner/common/apps/signed';
import type { AppState } from '@runner/common/apps/state';
import type { DeployEvent } from '@runner/common/audit/events';
import { appendKept } from '@runner/common/audit/kept';
import { readConfig } from '@runner/common/config/file';
import { buildLimitsOf } from '@runner/common/config/sandbox';
import { asPreview } from '@runner/common/deploy-file/as-preview';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { widenedNetwork } from '@runner/common/deploy-file/widened';
import { failureIn } from '@runner/common/foundation/attempt';
import { Failure, usage } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { configExposure } from '@runner/common/guards/exposure';
import { cleanRecord } from '@runner/common/redaction/record';
import type { KilledAnswer } from '../database/killed.ts';
import { changesOf } from '../git/changes.ts';
import { type Contents, contentsOf, isOfTheCommit, unreadNote } from '../git/contents.ts';
import { type CommitInfo, commitInfo } from '../git/history.ts';
import { fetchWanted, type ResolvedRef } from '../git/ref.ts';
import { pathsNote } from '../git/same-paths.ts';
import type { GitSource } from '../git/source.ts';
import { activeFile, onlyInstance, previousOfAll } from '../instances/target.ts';
import { isRepeated, isTriedOften } from '../journal/after-failure.ts';
import { eventsOf, record } from '../journal/events.ts';
import { beginJournal, clearJournal } from '../journal/journal.ts';
import type { Deploy, Operation } from '../journal/operation.ts';
import { previousFields } from '../operation/ending-fields.ts';
import type { OperationRequest } from '../operation/operate.ts';
import { repeatNotifier, startNotifier } from '../report/notifier.ts';
import { reported } from '../report/reporter.ts';
import { StepFailure } from '../run/step.ts';
import { requireSigned, signerNow } from '../signed/require.ts';
import { packagesOf } from './packages.ts';

/**
 * What to deploy, and on whose behalf. If the log has a deploy with its `deployId`, nothing is deployed:
 * its result is awaited and returned.
 */
export interface DeployRequest extends OperationRequest {
  /** Branch, tag or commit; undefined: the head of what the app follows. */
  readonly ref?: string | undefined;
  /** Only this instance; undefined: all. */
  readonly instance?: string | undefined;
  /** It ran before a restore: an operator has not chosen it over the head. */
  readonly returns?: boolean;
  /** The commit was the head of what the app follows when it was planned: a newer head is not passed over. */
  readonly follows?: boolean;
  /** Whether a migration that was killed is in, as an operator says. */
  readonly migrated?: KilledAnswer | undefined;
  /** An operator deploys a commit that does not descend from the last accepted one. */
  readonly acceptRewrite?: boolean | undefined;
  readonly signal: AbortSignal;
  /** Called under the lock with what would be deployed; if it throws, the deploy does not begin. */
  confirm?(app: AppState, wanted: ResolvedRef, source: GitSource): Promise<void>;
}

/** A commit that was fetched; its contents are a failure if the commit itself is wrong. */
export interface FetchedCommit {
  readonly wanted: ResolvedRef;
  readonly contents: Contents | StepFailure;
  readonly about: CommitInfo & SignedFacts;
  readonly changes: ChangeSummary;
}

/** Notes what needs attention before any deploy. */
export function tidyUp({ paths, reporter }: Pick<DeployRequest, 'paths' | 'reporter'>): void {
  const failure = failureIn(() => appendKept(paths));
  if (failure) reporter.note(`${failure.message} (${failure.code})`);
  const exposed = configExposure(paths);
  if (exposed) reporter.note(exposed);
}

/** Fetches the commit with its submodules, and reads its `.deploy.yml`, if its signatures are good. */
export async function fetchCommit(
  source: GitSource,
  { io, paths, reporter, app }: Pick<Operation, 'io' | 'paths' | 'reporter' | 'app'>,
  { ref, instance, confirm, returns, acceptRewrite, trigger }: DeployRequest,
): Promise<FetchedCommit> {
  const step = `fetch ${ref ?? followedWords(source)} of ${source.repo}`;
  const { preview } = app;
  requireLimits(paths, app);
  if (preview && ref !== undefined)
    throw usage(`${app.app} is a preview: it deploys ${preview.commit} and nothing else`);
  let refusal: unknown;
  const fetched = await reported(reporter, step, async () => {
    const wanted = await fetchWanted(source, preview?.ref ?? ref);
    let signed: SignedFacts = {};
    try {
      if (preview && !isCommitOf(preview, wanted.commit)) throw movedOn(preview, wanted);
      await confirm?.(app, wanted, source);
      const asked = { paths, source, app, now: io.now(), ref, acceptRewrite };
      // What ran before a restore was accepted then.
      signed = await (returns ? signerNow : requireSigned)(asked, wanted);
    } catch (error) {
      // The fetch itself has succeeded.
      refusal = error;
      return undefined;
    }
    const about = { ...(await commitInfo(source, wanted.commit)), ...signed };
    const from = activeCommit(app, instance);
    const commits = await changesOf(source, from, wanted.commit, about);
    const isAutomatic = trigger === 'fetch' || returns === true;
    const { notes, changes: packages } = await packagesOf(
      { io, paths, isAutomatic },
      { app, source },
      { from, to: wanted.commit },
    );
    const pathNotes = await pathsNote(source, wanted.commit, app);
    for (const note of [...notes, ...pathNotes]) reporter.note(note);
    const known = { wanted, about, changes: { ...commits, ...packages } };
    try {
      const contents = await contentsOf(source, wanted.commit, app.deploy_file, returns);
      if (preview && contents.file.migrate && !contents.file.preview.database)
        reporter.note('migrate is skipped: .deploy.yml has no preview.database');
      const read = preview ? asPreview(contents.file, preview) : contents.file;
      const file = onlyInstance(read, instance, wanted.version);
      return { ...known, contents: { ...contents, file } };
    } catch (error) {
      if (!isOfTheCommit(error)) throw error;
      const failure = new StepFailure('config', `config: ${error.message}`);
      return { ...known, contents: failure };
    }
  });
  if (!fetched) throw refusal;
  return fetched;
}

/** Throws `config_invalid` if what limits the commands of every commit is malformed. */
export function requireLimits(paths: Paths, { app }: AppState): void {
  buildLimitsOf(readConfig(paths), app);
}

/** The host has another commit there than the one that was let in. */
function movedOn({ ref, commit }: PreviewMark, { commit: found }: ResolvedRef): Failure {
  const now = found.slice(0, 12);
  return new Failure(
    'ref_not_found',
    `${ref} is at ${now} and no longer at ${commit.slice(0, 12)}`,
  );
}

/** The commit that the deploy replaces. */
export function activeCommit(app: AppState, instance: string | undefined): string | undefined {
  if (instance !== undefined) return app.instances[instance]?.current?.commit;
  return previousOfAll(app, [])?.commit;
}

/**
 * The deploy of a commit: begins its log and its journal, and records DeployStarted. Without a record,
 * no deploy.
 */
export function beginDeploy(op: Operation, fetched: FetchedCommit, request: DeployRequest): Deploy {
  const { wanted, contents, about, changes } = fetched;
  const { instance, returns = false, follows = false } = request;
  const ref = returns || follows ? undefined : request.ref;
  const file = contents instanceof StepFailure ? undefined : contents.file;
  const deploy: Deploy = Object.assign(op, {
    about,
    returns,
    isOperators: 'from' in contents && contents.from === 'operator',
    ref,
    commit: wanted.commit,
    version: wanted.version,
    instances: instanceNames(op.app, file?.instances, instance),
    skippedHead: passedOver(request, wanted),
    partial: instance !== undefined,
    changes: cleanRecord({ ...changes, ...networkAdded(op, file) }, op.redact),
  });
  const note = contents instanceof StepFailure ? undefined : unreadNote(contents);
  if (note) op.reporter.note(note);
  op.log.open();
  recordStart(deploy, file, request);
  return deploy;
}

/** The head that an operator chooses not to deploy, or only in one instance. */
function passedOver({ ref, instance, follows }: DeployRequest, { commit, head }: ResolvedRef) {
  if (follows) return instance === undefined ? undefined : commit;
  return ref !== undefined || instance !== undefined ? head : undefined;
}

/** What the commit lets its commands reach that the active release did not. */
export function networkAdded(
  { paths, app }: Pick<Operation, 'paths' | 'app'>,
  file: DeployFile | undefined,
): Pick<ChangeSummary, 'network_added'> {
  const before = activeFile(paths, app);
  const network_added = before && file ? widenedNetwork(before, file) : [];
  return network_added.length > 0 ? { network_added } : {};
}

/** The one instance that was asked for, else those of the file, else those deployed before. */
function instanceNames(
  app: AppState,
  instances: readonly { readonly name: string }[] | undefined,
  instance: string | undefined,
): readonly string[] {
  if (instance !== undefined) return [instance];
  if (instances) return instances.map(({ name }) => name);
  const names = Object.keys(app.instances);
  return names.length > 0 ? names : ['default'];
}

function recordStart(op: Deploy, file: Contents['file'] | undefined, { notify }: DeployRequest) {
  const { io, paths, commit, version, skippedHead, instances, about } = op;
  // The choice of the commit; if that cannot be read, of the active release, else the global one.
  const channels = notify ? (file ?? activeFile(paths, op.app))?.notify : 'none';
  const stage = file ? 'export' : 'config';
  const intent = {
    commit,
    version,
    stage,
    instance: instances.join(','),
    ...(channels && { notify: channels }),
    ...(skippedHead !== undefined && { passed_over: skippedHead, partial: op.partial }),
    ...(op.returns && { returns: true }),
    ...(op.isOperators && { deploy_file: 'operator' as const }),
  };
  const { rewrite_of } = about;
  const at = io.now().toISOString();
  const accepted = { commit, version, at, ...(rewrite_of !== undefined && { rewrite_of }) };
  // In one write with the journal: a kill leaves both or neither.
  beginJournal(op, intent, (app) =>
    app.require_signed && about.signed_by && !op.returns ? { ...app, accepted } : app,
  );
  op.clock.enter(stage);
  const start = () => startNotifier(io, paths.root, channels);
  const isKnown = (event: DeployEvent) => isRepeated(op, event);
  if (notify) op.notifier = isTriedOften(op, 0) ? repeatNotifier(start, isKnown) : start();
  const events = eventsOf({ origin: op, kind: 'DeployStarted', instances, file }, (instance) => ({
    ...previousFields(op, instance),
    changes: op.changes,
  }));
  try {
    for (const event of record(op, events)) op.notifier.send(event);
  } catch (error) {
    clearJournal(op);
    throw error;
  }
}
