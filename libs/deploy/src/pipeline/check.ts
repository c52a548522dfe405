/** `runner deploy --check`: what a deploy would do, and what would prevent it. */

import { variablesOf } from '@runner/common/app-secrets/open';
import { followedWords } from '@runner/common/apps/following';
import { pauseOf, pauseWords } from '@runner/common/apps/operator';
import type { SignedBy } from '@runner/common/apps/signed';
import type { AppState } from '@runner/common/apps/state';
import { listApps, requireApp } from '@runner/common/apps/store';
import { asPreview } from '@runner/common/deploy-file/as-preview';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { nextTimes } from '@runner/common/deploy-file/schedule';
import { cleanRecord } from '@runner/common/redaction/record';
import { word } from '@runner/common/text/shell';
import { refuseAnswer, undecided } from '../database/killed.ts';
import { type Contents, contentsOf, unreadNote } from '../git/contents.ts';
import { sourceOf } from '../git/open.ts';
import { fetchWanted, type ResolvedRef } from '../git/ref.ts';
import { pathsNote } from '../git/same-paths.ts';
import { unlistedUnits, unlistedWords } from '../instances/drivers/availability.ts';
import { unitOfAnother } from '../instances/neighbours.ts';
import { portProblems } from '../instances/ports.ts';
import { type CanaryPlan, canaryPlan } from '../instances/shares.ts';
import { onlyInstance, setupCommand } from '../instances/target.ts';
import { trafficProblems } from '../instances/traffic-check.ts';
import { underLock } from '../journal/lock.ts';
import { spaceFor, spaceProblems } from '../release/folder.ts';
import { redacting, reported } from '../report/reporter.ts';
import { requireSigned } from '../signed/require.ts';
import { activeCommit, type DeployRequest, requireLimits } from './begin.ts';
import { checkNotes, fetchNotes, usedBeside } from './check-notes.ts';
import { packagesOf } from './packages.ts';
import { stepsOf } from './plan-steps.ts';
import { type Inspected, lacks, missingStartFile } from './preflight.ts';
import { missingPrograms, networkProblems } from './programs.ts';

/** What `runner deploy --check` prints. */
export interface DeployPlan {
  app: string;
  /** `invalid` if there are problems; the exit status is 1 then. */
  result: 'valid' | 'invalid';
  problems: string[];
  /** What does not keep it from being deployed. */
  warnings: string[];
  repo: string;
  /** `--ref`, else the branch or the tags. */
  ref: string;
  commit: string;
  version: string;
  /** Whether there is a `.deploy.yml`. */
  deploy_file: boolean;
  /** Whose it is: the commit's own, or that of `runner edit --deploy-file`; null without one. */
  deploy_file_from: Contents['from'];
  /** `accepted` by the code host, or `none` if the app has none and needs none. */
  token: 'accepted' | 'none';
  /** Who signed the commit; null where that is not required. */
  signed_by: SignedBy | null;
  instances: {
    instance: string;
    domain: string | null;
    /** Names of its variables. */
    env: string[];
    /** Version that is active now. */
    current: string | null;
  }[];
  /** In the order they would run. */
  steps: string[];
  /** The shares that it would get first; null if `.deploy.yml` asks for none. */
  canary: CanaryPlan | null;
  /** Its jobs, and the next five times of each, in ISO 8601. */
  jobs: { job: string; run: string; when: string; next: string[] }[];
  submodules: { path: string; repo: string; commit: string }[];
  start: string;
  notify: string;
  keep: number;
  free_bytes: number;
  needed_bytes: number;
}

/** Times of a job that are shown. */
const TIMES_SHOWN = 5;

/**
 * Fetches what would be deployed and inspects it under the app's lock. Writes only the mirror. Throws
 * what a deploy throws before it begins, and `deploy_file_invalid`, `submodule_unsupported`,
 * `lfs_unsupported`.
 */
export async function planDeploy(request: CheckRequest): Promise<DeployPlan> {
  return underLock(request, 'deploy --check', async () => {
    const app = requireApp(request.paths, request.app);
    const { plan, file, redact } = await inspect(request, app);
    const refused = refusedNow(request, app, file).map(redact);
    return { ...plan, warnings: [...refused, ...plan.warnings] };
  });
}

/** Why a deploy of any commit would be refused until an operator decides. */
export function refusedNow(
  { io, paths, migrated, isForced }: CheckRequest,
  app: AppState,
  file: DeployFile,
): string[] {
  const pause = isForced ? undefined : pauseOf(app, io.now());
  const question = undecided(paths, app, file, migrated);
  return [
    ...(pause ? [`${app.app} is ${pauseWords(pause)}: runner resume ${word(app.app)} first`] : []),
    ...(question ? [question.message] : []),
  ];
}

interface CheckRequest extends Omit<DeployRequest, 'trigger' | 'notify' | 'confirm'> {
  /** A pause does not matter. */
  readonly isForced?: boolean;
}

/** The same under a lock that is held; `packages` is what it brings beside commits. */
export async function inspect(request: CheckRequest, app: AppState) {
  const { paths, ref, migrated } = request;
  refuseAnswer(app, migrated);
  requireLimits(paths, app);
  const { source, secrets, redact } = sourceOf(request, app);
  const reporter = redacting(request.reporter, redact);
  const step = `fetch ${ref ?? followedWords(source)} of ${source.repo}`;
  return reported(reporter, step, async () => {
    const wanted = await fetchWanted(source, ref);
    const { acceptRewrite } = request;
    const now = request.io.now();
    const asked = { paths, source, app, now, ref, acceptRewrite };
    const { signed_by = null } = await requireSigned(asked, wanted);
    const contents = await contentsOf(source, wanted.commit, app.deploy_file);
    const note = unreadNote(contents);
    if (note) reporter.note(note);
    const pathNotes = await pathsNote(source, wanted.commit, app);
    const { preview } = app;
    const read = preview ? asPreview(contents.file, preview) : contents.file;
    const file = onlyInstance(read, request.instance, wanted.version);
    const [first] = file.instances;
    const set = variablesOf(secrets.today(first?.name ?? ''));
    const known = { app, source, set };
    const range = { from: activeCommit(app, request.instance), to: wanted.commit };
    const { notes, changes: packages } = await packagesOf(
      { ...request, isAutomatic: false },
      { app, source },
      range,
    );
    const plan = await planOf(request, known, wanted, { ...contents, file });
    // The commands of the file may contain a secret.
    const warnings = [...(note ? [note] : []), ...plan.warnings, ...notes, ...pathNotes];
    const clean = cleanRecord({ ...plan, warnings, signed_by }, redact);
    return { plan: clean, source, redact, file, packages };
  });
}

async function planOf(
  { io, paths, ref }: Pick<DeployRequest, 'io' | 'paths' | 'ref'>,
  { app, source, set }: { app: AppState } & Pick<Inspected, 'source' | 'set'>,
  { commit, version }: ResolvedRef,
  { file, from, submodules }: Contents,
): Promise<Omit<DeployPlan, 'signed_by'>> {
  const space = spaceFor(paths.app(app.app));
  const inspected = { app: app.app, source, commit, file, set };
  const missing = await lacks({ io, paths }, inspected);
  const unlisted = unlistedUnits(file).map(
    (unit) => `start: ${unlistedWords(unit, setupCommand(app))}`,
  );
  const sharedUnit = unitOfAnother(paths, app.app, file);
  const isLacking = unlisted.length > 0 || missing.some(({ stage }) => stage === 'start');
  const problems = [
    ...spaceProblems(space),
    ...missing.map(({ words }) => words),
    ...(await missingStartFile(source, commit, file)),
    ...unlisted,
    ...(sharedUnit === undefined ? [] : [sharedUnit]),
    ...missingPrograms(file, io.env),
    ...portProblems(paths, listApps(paths).apps, app.app, file),
    ...trafficProblems(paths, app.app, file, io.env),
    ...networkProblems({ io, paths, app }, file),
  ];
  const canary = canaryPlan(paths.app(app.app), file);
  const { memory, own: warm } = (await usedBeside({ io, paths }, app, file)) ?? { memory: 0 };
  const checked = { source, commit, file, isLacking, memory };
  return {
    app: app.app,
    result: problems.length > 0 ? 'invalid' : 'valid',
    problems,
    warnings: [
      ...(await checkNotes({ io, paths }, app, checked)),
      ...(ref === undefined ? fetchNotes(app, { commit, version }) : []),
    ],
    repo: app.repo,
    ref: ref ?? followedWords(app),
    commit,
    version,
    deploy_file: from !== null,
    deploy_file_from: from,
    token: source.token || source.mint ? 'accepted' : 'none',
    instances: file.instances.map(({ name, domain, env }) => ({
      instance: name,
      domain: domain ?? null,
      env: Object.keys(env),
      current: app.instances[name]?.current?.version ?? null,
    })),
    steps: stepsOf(file, version, { warm, canary }),
    canary: canary ?? null,
    jobs: file.jobs.map(({ name, run, when, schedule }) => ({
      job: name,
      run,
      when,
      next: nextTimes(schedule, io.now(), TIMES_SHOWN).map((time) => time.toISOString()),
    })),
    submodules: submodules.map(({ path, source: { repo }, commit: at }) => ({
      path,
      repo,
      commit: at,
    })),
    start: file.start.type,
    notify: file.notify,
    keep: file.keep,
    free_bytes: space.free,
    needed_bytes: space.needed,
  };
}
