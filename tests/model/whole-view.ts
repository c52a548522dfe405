/** Whether everything that can be seen of a server's apps agrees: what is served, shown and recorded. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { AppState } from '@runner/common/apps/state';
import type { AppSummary } from '@runner/common/apps/summary';
import type { GitServer } from '@runner/testing/git-server';
import { openDeploys, versionsIn } from './agreement.ts';
import { APPS } from './operations.ts';
import type { Disagreement } from './sequences.ts';
import { type AppServer, makeServer } from './server.ts';
import type { Step } from './steps.ts';
import type { LogLine } from './subject.ts';

/** Milliseconds for a drain, or for the children of a killed command, to end. */
const SETTLE = 10_000;

function logOf(server: AppServer): LogLine[] {
  const file = join(server.root, 'logs/deploy-events.jsonl');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as LogLine);
}

function versionIn(folder: string): string | null {
  try {
    return readFileSync(join(folder, 'VERSION'), 'utf8').trim();
  } catch {
    return null;
  }
}

/** What of a server an app is compared with. */
export interface Seen {
  readonly root: string;
  state(app: string): AppState;
  served(app: string): Promise<string | null>;
  processes(app: string): readonly unknown[];
  readonly crashed: ReadonlySet<string>;
}

/** What of one app differs, in words. An interrupted command has to be cleaned up by the next one first. */
export async function differencesOf(server: Seen, app: string, listed: AppSummary, log: LogLine[]) {
  const found: string[] = [];
  const compare = (what: string, actual: unknown, ...wanted: unknown[]) => {
    if (!wanted.includes(actual))
      found.push(`${app}: ${what}: ${JSON.stringify(actual)}, wanted ${JSON.stringify(wanted)}`);
  };
  const state = server.state(app);
  if (state.deploying) return [];
  const folder = join(server.root, 'apps', app);
  const known = state.instances.default;
  const active = known?.current?.version ?? null;
  const isStopped = state.stopped?.instances.includes('default') ?? false;
  const served = await server.served(app);
  if (isStopped) compare('served while stopped', served, null);
  else if (known?.broken) compare('served while broken', served, active, null);
  else if (server.crashed.has(app)) compare('served after a crash', served, active, null);
  else compare('served', served, active);
  compare('current', versionIn(join(folder, 'instances/default/current')), active);
  const row = listed.instances.find(({ instance }) => instance === 'default');
  compare('list', row?.current?.version ?? null, active);
  if (typeof row?.running === 'boolean' && active && !row.restored)
    compare('running', row.running, served !== null);
  if (isStopped) compare('state word', listed.state, 'stopped', 'down', 'broken');
  const own = log.filter((line) => line.project === app);
  // After a restore the log has what ran elsewhere.
  if (!row?.restored) compare('log', versionsIn(own).get('default') ?? null, active);
  found.push(...openDeploys(own).map((each) => `${app}: ${each}`));
  const releases = existsSync(join(folder, 'releases'))
    ? readdirSync(join(folder, 'releases'))
    : [];
  const kept = [known?.current, ...(known?.previous ?? [])].map((each) => each?.release);
  compare('unfinished', releases.filter((name) => name.startsWith('.')).join(), '');
  for (const release of kept)
    if (release && !releases.includes(release)) found.push(`${app}: release ${release} is gone`);
  const { watch, instances: now } = server.state(app);
  const { before_traffic, draining } = now.default ?? {};
  // The version before is kept running while a release is watched.
  const others = [before_traffic, watch && draining && served !== null];
  const wanted = (served === null ? 0 : 1) + others.filter(Boolean).length;
  const until = performance.now() + SETTLE;
  while (server.processes(app).length > wanted && performance.now() < until) await setTimeout(50);
  compare('processes', server.processes(app).length, wanted);
  return found;
}

/** How many records of each server `audit verify` has read: it is asked again when there are more. */
const verified = new WeakMap<AppServer, number>();

async function differences(server: AppServer): Promise<string[]> {
  const list = await server.runner('list', '--json');
  const { apps } = JSON.parse(list.stdout) as { apps: AppSummary[] };
  const log = logOf(server);
  const all = APPS.map((app) => {
    const listed = apps.find((each) => each.app === app);
    return listed ? differencesOf(server, app, listed, log) : [`${app}: is not listed`];
  });
  const found = (await Promise.all(all)).flat();
  const isBusy = APPS.some((app) => server.state(app).deploying);
  const isNew = log.length > (verified.get(server) ?? 0);
  if (!server.hasClockMoved() && !isBusy && isNew) {
    verified.set(server, log.length);
    const verify = await server.runner('audit', 'verify');
    if (verify.status !== 0) found.push(`audit verify: ${verify.stdout}${verify.stderr}`);
  }
  return found;
}

/** What was killed is cleaned up by the next command; this one deploys nothing. */
async function recover(server: AppServer): Promise<string> {
  let printed = '';
  for (const app of APPS) {
    const { deploying, instances } = server.state(app);
    if (!deploying && !instances.default?.draining) continue;
    const { stdout, stderr } = await server.runner('deploy', app, '--ref', 'nothing');
    printed += stdout + stderr;
  }
  return printed;
}

/** Does the steps on a server of its own; resolves the first disagreement. */
export async function attemptAll(
  git: GitServer,
  steps: readonly Step[],
): Promise<Disagreement | undefined> {
  const server = await makeServer(git);
  try {
    for (const [index, step] of steps.entries()) {
      const { problems, printed } = await server.perform(step);
      const cleaned = await recover(server);
      const reasons = [...problems, ...(await differences(server))];
      if (reasons.length > 0)
        return { steps: steps.slice(0, index + 1), reasons, printed: printed + cleaned };
    }
    return undefined;
  } finally {
    server.close();
  }
}
