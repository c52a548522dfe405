/** What certainly keeps a commit from starting on this server, known before it is built. */
import { join } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { isThere, makeFolder } from '@runner/common/files/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { migrationLacks } from '../database/ready.ts';
import { blobsOf, treeOf } from '../git/commit-files.ts';
import type { GitSource } from '../git/source.ts';
import { obstacles, refusedUnits } from '../instances/drivers/availability.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { unitOfAnother } from '../instances/neighbours.ts';
import { unreached } from '../instances/proxies.ts';
import { socketProblem } from '../instances/reach.ts';
import { busyPort } from '../instances/traffic-check.ts';
import { closedReleases, unreadSecrets } from '../instances/unit-check.ts';
import { failureLine } from '../journal/after-failure.ts';
import type { Operation } from '../journal/operation.ts';
import { missingSecret, setSecret } from '../release/make.ts';
import { stepEnvironment } from '../run/environment.ts';
import { type Stage, StepFailure } from '../run/step.ts';
import { keyProblem } from '../statement/envelope.ts';

/** A sentence that names the command or the file that is missing, and the stage that would fail. */
export interface Unready {
  readonly stage: Stage;
  readonly words: string;
}

/** The commit that is inspected, in the mirror. */
export interface Inspected {
  readonly app: string;
  readonly source: GitSource;
  readonly commit: string;
  readonly file: DeployFile;
  /** The secrets that are set for its first instance. */
  readonly set: Readonly<Record<string, string>>;
}

/** What `--check` and a deploy both refuse. */
export async function lacks(server: Server, what: Inspected): Promise<Unready[]> {
  const { io, paths } = server;
  const { app, source, commit, file, set } = what;
  const at = (stage: Stage, all: readonly string[]) => all.map((words) => ({ stage, words }));
  const blocked = obstacles(app, file, io.env).map(({ words }) => words);
  const unread = unreadSecrets(server, app, file).map(({ words }) => `start: ${words}`);
  const unset = file.build.env
    .filter((name) => !Object.hasOwn(set, name))
    .map((name) => `build: ${missingSecret(app, name)}`);
  const { database = '' } = file.migrate ?? {};
  const url = set[database] ?? file.instances[0]?.env[database];
  const isUnset = file.migrate && !url;
  const noUrl = isUnset ? [`migrate: ${database} is not set: ${setSecret(app, database)}`] : [];
  const key = keyProblem(paths);
  return [
    ...at('release', key ? [`release: ${key.message}`] : []),
    ...at('export', nestedShared(file)),
    ...at('export', await missingShared(source, paths, commit, file)),
    ...at('start', blocked),
    ...at('start', unread),
    ...at('start', closedReleases(server, app, file)),
    ...at('build', unset),
    ...at('migrate', noUrl),
    ...at('migrate', file.migrate && url ? migrationLacks(file.migrate, url, io.env) : []),
  ];
}

/**
 * What a deploy fails at before it builds; undefined if nothing is missing. Guesses of `--check`, such
 * as a program that is not on PATH, fail nothing. No commit is to blame: nothing counts towards the block.
 */
export async function preflight(server: Server, what: Inspected): Promise<StepFailure | undefined> {
  const { file } = what;
  const env = stepEnvironment(server.io.env);
  const all = [
    ...(await lacks(server, what)),
    ...refusedUnits(file, env).map((words): Unready => ({ stage: 'start', words })),
    ...file.instances.flatMap((instance) => unreachable(server.paths, what, instance)),
  ];
  const [first, ...more] = all;
  if (!first) return undefined;
  const output = more.map(({ words }) => words).join('\n');
  return new StepFailure(first.stage, first.words, { blame: 'operator', output });
}

/** Whether the newest failure of an app was this one: the timer does not announce it again. */
export function isSameFailure(
  { last_failure: last }: Pick<AppState, 'last_failure'>,
  commit: string,
  message: string,
): boolean {
  return last?.commit === commit && last.error === failureLine(message);
}

/** A slot that nothing could ask. */
function unreachable(paths: Paths, { app, file }: Inspected, instance: Instance): Unready[] {
  const { name, domain, traffic } = instance;
  if (!traffic) return [];
  const own = paths.app(app).instance(name);
  const tooLong = socketProblem(own, traffic, file);
  // Without a domain it may have another proxy, or none.
  const isChecked = domain !== undefined && traffic.type === 'socket';
  const closed = isChecked ? unreached(own, traffic) : [];
  return [
    ...(tooLong === undefined ? [] : [`traffic: ${tooLong}`]),
    ...busyPort(paths, app, instance),
    ...closed.map(({ words, fix }) => `traffic: ${words}: ${fix}`),
  ].map((words) => ({ stage: 'traffic', words }));
}

/** Shared paths below another, whose link leads out of the release. */
function nestedShared({ shared }: DeployFile): string[] {
  return shared.flatMap(({ path }) => {
    const outer = shared.find((other) => path.startsWith(`${other.path}/`));
    return outer
      ? [`shared: ${path} is in ${outer.path}, which is shared: remove one of them`]
      : [];
  });
}

/** Shared files that exist neither in `shared/`, which is made for them, nor, as a file or a folder, in the commit. */
async function missingShared(source: GitSource, paths: Paths, commit: string, file: DeployFile) {
  const [first] = file.instances;
  if (!first) return [];
  const { shared } = paths.app(source.app).instance(first.name);
  const absent = file.shared.filter(({ path, folder }) => !folder && !isThere(join(shared, path)));
  if (absent.length === 0) return [];
  const names = absent.map(({ path }) => path);
  const { top: inCommit } = await treeOf(source, commit, names);
  const missing = absent.filter(({ path }) => !inCommit.has(path));
  // Made by hand as root, it would be closed to runner.
  if (missing.length > 0) unlessFailure(() => makeFolder(shared), undefined);
  return missing.map(
    ({ path }) => `shared: the file ${join(shared, path)} does not exist yet: create it`,
  );
}

/** A compose or ecosystem file that the commit lacks, unless a build may make it. */
export async function missingStartFile(
  source: GitSource,
  commit: string,
  { start, build }: DeployFile,
): Promise<string[]> {
  const path =
    start.type === 'compose'
      ? start.file
      : start.type === 'pm2' && 'config' in start
        ? start.config
        : undefined;
  if (path === undefined || build.run.length > 0 || path.includes('\n')) return [];
  const [found] = await blobsOf(source, [`${commit}:${path}`]);
  return found === undefined ? [`start: the commit has no file ${path}`] : [];
}

/** Whether an instance can be started at all, asked before anything is touched. Throws a StepFailure of stage `start`. */
export function checkReady(op: Operation, target: Target): void {
  const { start } = target;
  const own = { start, instances: [target.instance] };
  const [obstacle] = obstacles(op.app.app, own, op.io.env);
  if (obstacle) throw new StepFailure('start', obstacle.words, { blame: obstacle.blame });
  const [refused] = refusedUnits(own, target.outerEnv);
  if (refused !== undefined) throw new StepFailure('start', refused, { blame: 'server' });
  const shared = unitOfAnother(op.paths, op.app.app, own);
  if (shared !== undefined) throw new StepFailure('start', shared);
  driverFor(start).prepare?.(target);
}
