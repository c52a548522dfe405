/** What `deploy --check` warns of: it does not keep the commit from being deployed. */
import { isHeld } from '@runner/common/apps/hold';
import { ranWords, returnCommand, returnsOf } from '@runner/common/apps/restored';
import type { AppState } from '@runner/common/apps/state';
import { approvalRuleOf } from '@runner/common/config/approval';
import { namedChannels } from '@runner/common/config/channels';
import { readConfig } from '@runner/common/config/file';
import { bounded, hostRule, isHostSet, type Network } from '@runner/common/config/network';
import { activeChannels, notifySettingsOf } from '@runner/common/config/settings';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { usageOf } from '@runner/common/files/usage';
import type { Env } from '@runner/common/foundation/io';
import type { Server } from '@runner/common/foundation/paths';
import { durationText } from '@runner/common/text/time';
import { blobsOf } from '../git/commit-files.ts';
import type { ResolvedRef } from '../git/ref.ts';
import type { GitSource } from '../git/source.ts';
import { domainsOfOthers } from '../instances/neighbours.ts';
import { ceilingOf } from '../instances/network.ts';
import { startsBeside } from '../instances/place.ts';
import { setupDrift } from '../instances/setup-record.ts';
import { setupCommand } from '../instances/target.ts';
import { trafficNotes } from '../instances/traffic-check.ts';
import { pidsIn, viewOf } from '../lifecycle/view.ts';
import { endOfLog } from '../proxy/access-log.ts';
import { haproxyCounters } from '../proxy/haproxy.ts';
import { bubblewrap } from '../sandbox/probe.ts';
import { settingOf } from '../sandbox/sandbox.ts';
import { EVERY } from '../watch/asked.ts';
import { TIMED_FOR_MIN } from '../watch/requests.ts';
import { ENOUGH, SLOW_EVERY } from '../watch/running.ts';
import { keptPrograms, looseScripts } from './programs.ts';

/** A commit that is looked at. */
interface CheckedCommit {
  readonly source: GitSource;
  readonly commit: string;
  readonly file: DeployFile;
  /** Whether something that `runner setup` makes is missing. */
  readonly isLacking: boolean;
  /** What a version takes that another one starts beside, in bytes. */
  readonly memory: number;
}

/** A sentence for each. */
export async function checkNotes(server: Server, app: AppState, checked: CheckedCommit) {
  const { io, paths } = server;
  const { file, isLacking, memory } = checked;
  const compose = await composeOf(checked);
  return [
    ...setupNotes(io.env, app, file, isLacking),
    ...trafficNotes(paths, app.app, file, { memory, compose }),
    ...domainsOfOthers(paths, app.app, file),
    ...hiddenServices(server, app.app, file),
    ...inactiveChannels(server, file),
    ...looseScripts(file),
    ...(await watchNotes(checked)),
    ...approvalNotes(paths, app.app),
    ...unlistedHosts({ paths, app }, file),
  ];
}

/** What `runner setup` made and is no longer so, and what it would make. */
function setupNotes(env: Env, app: AppState, { start }: DeployFile, isLacking: boolean): string[] {
  const notes = setupDrift(env, app.app).map(({ words, fix }) => `setup: ${words}: ${fix}`);
  if (!isLacking || start.type !== 'systemd' || start.user) return notes;
  const command = setupCommand(app);
  return [...notes, `start: ${command} makes the unit, its line in the list and its access lists`];
}

/** Commands that do not reach a service of the server, where they run in the sandbox. */
function hiddenServices({ io: { env }, paths }: Server, app: string, file: DeployFile): string[] {
  const { mode, allow } = settingOf({ paths, env, app });
  const isConfined = mode !== 'off' && 'program' in bubblewrap(env);
  return isConfined ? keptPrograms(app, file, allow) : [];
}

/** Channels that the file names but that get no messages. */
function inactiveChannels({ io: { env }, paths }: Server, { notify }: DeployFile): string[] {
  const active = activeChannels(notifySettingsOf(readConfig(paths), env));
  return namedChannels(notify)
    .filter((name) => !active.includes(name))
    .map((name) => `notify: ${name} is not active: run runner notify setup --channel ${name}`);
}

function approvalNotes(paths: Server['paths'], app: string): string[] {
  const { counts, by } = approvalRuleOf(readConfig(paths), app);
  if (!counts.deploy) return [];
  const users = by.map(({ user }) => user).join(', ');
  return [`approval: a deploy needs ${counts.deploy} of ${users}: run runner plan deploy ${app}`];
}

/** Entries of lists that are not in the operator's. What a set means is known in the build only. */
function unlistedHosts(
  of: Parameters<typeof ceilingOf>[0],
  { build, hookNetwork, jobs }: DeployFile,
): string[] {
  const lists: (readonly [key: string, own: Network, kind: 'build' | 'hook'])[] = [
    ['build.network', build.limits.network, 'build'],
    ['hooks.network', hookNetwork, 'hook'],
    ...jobs.map(({ name, network }) => [`jobs.${name}.network`, network, 'hook'] as const),
  ];
  return lists.flatMap(([key, own, kind]) => {
    const { network: most, place } = ceilingOf(of, kind);
    if (typeof own !== 'object' || typeof most !== 'object') return [];
    const rules = most.filter((each) => !isHostSet(each)).map(hostRule);
    const sets = most.filter(isHostSet);
    const unless = sets.length > 0 ? `, unless ${sets.join(' or ')} has it` : '';
    return own.flatMap((entry) => {
      if (isHostSet(entry))
        return sets.includes(entry)
          ? []
          : [`${key}: ${entry} is refused, unless its hosts are listed: it is not in ${place}`];
      const isOutside = bounded([hostRule(entry)], rules).outside.length > 0;
      return isOutside ? [`${key}: ${entry} is refused${unless}: it is not in ${place}`] : [];
    });
  });
}

/** That `fetch --deploy` deploys another commit. */
export function fetchNotes(
  app: AppState,
  { commit, version }: Pick<ResolvedRef, 'commit' | 'version'>,
): string[] {
  const due = returnsOf(app);
  const first = `fetch --deploy first deploys ${ranWords(due)}, which ran before the restore`;
  if (due.length > 0) return [`${first}; check that with: ${returnCommand(app.app, due)} --check`];
  const isSame = (held: string) => held === commit;
  return isHeld(app, isSame) ? [`${version} is on hold: fetch --deploy does not deploy it`] : [];
}

async function composeOf({ source, commit, file: { start } }: CheckedCommit) {
  if (start.type !== 'compose' || start.file.includes('\n')) return undefined;
  const [bytes] = await blobsOf(source, [`${commit}:${start.file}`]);
  return bytes;
}

/** What a watch could not look at. */
async function watchNotes({ source, commit, file }: CheckedCommit): Promise<string[]> {
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

/** What runs of the instances that start beside another version, in bytes; undefined if that is not known. */
export async function usedBeside(server: Server, app: AppState, { instances }: DeployFile) {
  const beside = instances.filter(startsBeside);
  if (beside.length === 0) return undefined;
  const view = await viewOf(server, [app]);
  const used = beside.flatMap(
    ({ name }) => usageOf(pidsIn(server.paths, app.app, name, view)) ?? [],
  );
  const sum = (bytes: readonly number[]) => bytes.reduce((all, each) => all + each, 0);
  const [memory, own] = [sum(used.map((each) => each.memory)), sum(used.map((each) => each.own))];
  return used.length > 0 ? { memory, own } : undefined;
}
