/** What `deploy --check` says of a watch: what it could not look at, and what the version before costs meanwhile. */
import type { AppState } from '@runner/common/apps/state';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { usageOf } from '@runner/common/files/usage';
import type { Server } from '@runner/common/foundation/paths';
import { durationText } from '@runner/common/text/time';
import { blobsOf } from '../git/commit-files.ts';
import type { GitSource } from '../git/source.ts';
import { startsBeside } from '../instances/place.ts';
import { pidsIn, viewOf } from '../instances/view.ts';
import { endOfLog } from '../proxy/access-log.ts';
import { haproxyCounters } from '../proxy/haproxy.ts';
import { EVERY } from '../watch/asked.ts';
import { TIMED_FOR_MIN } from '../watch/requests.ts';
import { ENOUGH, SLOW_EVERY } from '../watch/running.ts';

interface Looked {
  readonly source: GitSource;
  readonly commit: string;
  readonly file: DeployFile;
}

/** What a watch could not look at. */
export async function watchNotes({ source, commit, file }: Looked): Promise<string[]> {
  const { accessLog: path, haproxy, run = '', for: time = 0 } = file.watch ?? {};
  const notes: string[] = [];
  if (path !== undefined && !endOfLog(path))
    notes.push(`${path} cannot be read by this user: its requests will not be judged`);
  if (path !== undefined && time < TIMED_FOR_MIN)
    notes.push(
      `${durationText(time)} are too short for the time to answer: from ${durationText(TIMED_FOR_MIN)} on it is judged`,
    );
  const slow = slowestOf(file);
  const least = slow && (ENOUGH - 1) * slow.every + 5_000;
  if (slow && least && time > 0 && time < least)
    notes.push(
      `${durationText(time)} are too short to call a release good by its ${slow.name}, looked at every ${durationText(slow.every)}: from ${durationText(least)} on it can be`,
    );
  if (haproxy && !(await haproxyCounters(haproxy)))
    notes.push(
      `${haproxy.socket} does not say anything of ${haproxy.backend}: its requests will not be judged`,
    );
  // A build may make it.
  const program = file.build.run.length > 0 ? undefined : /^\.\/([^\s;&|]+)/.exec(run)?.[1];
  if (program !== undefined && (await blobsOf(source, [`${commit}:${program}`]))[0] === undefined)
    notes.push(`the commit has no file ${program}, which run names`);
  return notes.map((note) => `watch: ${note}`);
}

/** What is looked at most rarely; undefined: all of it once a second. */
function slowestOf({ health, start, watch }: DeployFile) {
  const isAsked = start.type === 'compose' || start.type === 'pm2';
  return [
    ...(watch?.query ? [{ name: 'query', every: EVERY.query }] : []),
    ...(watch?.run === undefined ? [] : [{ name: 'run', every: EVERY.command }]),
    ...(health?.kind === 'cmd' ? [{ name: 'health', every: EVERY.command }] : []),
    ...(isAsked ? [{ name: 'process', every: SLOW_EVERY }] : []),
  ][0];
}

/** Memory that a version before would keep, by what runs now, in bytes; undefined if that is not known. */
export async function warmCost(
  server: Server,
  app: AppState,
  { watch, instances }: DeployFile,
): Promise<number | undefined> {
  const beside = instances.filter(startsBeside);
  if (!watch || beside.length === 0) return undefined;
  const view = await viewOf(server, [app]);
  const own = beside.map(({ name }) => usageOf(pidsIn(server.paths, app.app, name, view))?.own);
  const known = own.filter((bytes) => bytes !== undefined);
  return known.length > 0 ? known.reduce((sum, bytes) => sum + bytes, 0) : undefined;
}
