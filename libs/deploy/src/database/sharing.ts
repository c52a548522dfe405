/** Apps of this server that use one database: what one of them migrates or restores concerns the others. */
import { openSecrets, variablesOf } from '@runner/common/app-secrets/open';
import { CLEANS_UP } from '@runner/common/apps/next';
import { leftQuestion } from '@runner/common/apps/plan-words';
import type { AppState } from '@runner/common/apps/state';
import { allNames, listApps } from '@runner/common/apps/store';
import { liveHolder } from '@runner/common/files/lock';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { fileOfRelease } from '../instances/kept-file.ts';
import { liveRuns } from '../jobs/look.ts';
import { type DatabaseAddress, databaseAddress } from './address.ts';

/** The other apps that have migrated a database, or whose active version has its URL. */
export function sharingApps(server: Server, own: string, database: string): AppState[] {
  const { apps } = listApps(server.paths, allNames(server.paths));
  return apps.filter(
    (app) => app.app !== own && (app.database === database || hasUrl(server, app, database)),
  );
}

/** With the fingerprint that this app or another has recorded first, by another name of the server. */
export function asRecorded(
  { paths, app }: { readonly paths: Server['paths']; readonly app: AppState },
  address: DatabaseAddress,
): DatabaseAddress {
  const all = [app, ...listApps(paths, allNames(paths)).apps];
  const known = all.find(({ database = '' }) => address.aliases.includes(database))?.database;
  return { ...address, fingerprint: known ?? address.fingerprint };
}

function hasUrl({ io, paths }: Server, app: AppState, database: string): boolean {
  return Object.entries(app.instances).some(([name, { current }]) => {
    const file = current && fileOfRelease(paths, app.app, current);
    if (!file) return false;
    const open = () => variablesOf(openSecrets(paths, io.env, app.app).today(name));
    const plain = file.instances.find((each) => each.name === name)?.env;
    const folder = paths.app(app.app).release(current.release);
    return Object.values({ ...plain, ...unlessFailure(open, {}) }).some((url) =>
      unlessFailure(() => databaseAddress(url, folder).aliases.includes(database), false),
    );
  });
}

/** What may start an app, whose database another one may be restoring. */
export const STARTING = new Set(['deploy', 'rollback', 'start', 'restart']);

/** Throws `database_in_use` while another app that uses the database runs, or may be started: a restore would pull it away. */
export function refuseInUse(server: Server, own: string, database: string): void {
  const why = useOf(server, sharingApps(server, own, database));
  if (why !== undefined) throw new Failure('database_in_use', why);
}

function useOf(server: Server, sharing: readonly AppState[]): string | undefined {
  const running = sharing.filter(({ app, instances, stopped }) =>
    Object.entries(instances).some(([name, { current }]) => {
      if (!current || stopped?.instances.includes(name)) return false;
      const file = fileOfRelease(server.paths, app, current);
      return file?.start.type !== 'none' || file.jobs.length > 0;
    }),
  );
  for (const { app, deploying } of sharing) {
    const holder = liveHolder(server.paths.lock(app));
    if (deploying && !holder)
      return `what was begun of '${app}', which uses this database, was killed: ${CLEANS_UP}`;
    // It looked for a restore when it began.
    if (STARTING.has(holder?.command ?? ''))
      return `${holder?.command} of '${app}' may start it, and it uses this database: wait for its end`;
  }
  if (running.length === 0) {
    const [busy] = sharing.flatMap(({ app }) => liveRuns(server, app).map((job) => [app, job]));
    return (
      busy && `job ${busy[1]} of '${busy[0]}' still runs, and uses this database: wait for its end`
    );
  }
  const names = running.map(({ app }) => app).join(', ');
  const stop = running.map(({ app }) => `runner stop ${word(app)}`).join('; ');
  return `the restore would also take away what ${names} wrote into this database since; stop ${running.length === 1 ? 'it' : 'them'} first: ${stop}`;
}

const isRestoring = ({ deploying, migrating }: AppState) =>
  deploying?.rests_jobs || migrating?.backup !== undefined;

/** Throws `locked` until another app's restore of the database that an app uses is over, or what a killed one left is. */
export function refuseWhileRestored(server: Server, { app }: AppState): void {
  const { apps } = listApps(server.paths, allNames(server.paths));
  const isOn = ({ app: own, database = '' }: AppState) =>
    own !== app && sharingApps(server, own, database).some((each) => each.app === app);
  refuseRestoring(
    server,
    apps.find((each) => isRestoring(each) && isOn(each)),
  );
}

/** The same, also until that of the app itself is. */
export function refuseJob(server: Server, app: AppState): void {
  refuseRestoring(server, isRestoring(app) ? app : undefined);
  refuseWhileRestored(server, app);
}

function refuseRestoring(server: Server, resting: AppState | undefined): void {
  if (!resting) return;
  const what = `a restore of the database of '${resting.app}'`;
  if (liveHolder(server.paths.lock(resting.app)))
    throw new Failure('locked', `${what} has not ended: wait for its end`);
  const left = leftQuestion(server.paths, resting);
  const words = left ? `${left.words}: ${left.hint}` : `${what} was killed: ${CLEANS_UP}`;
  throw new Failure('locked', words);
}
