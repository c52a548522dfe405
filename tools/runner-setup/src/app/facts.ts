/** What an app is: its `.deploy.yml`, and which of its units run. Read as the owner of runner's root. */

import { findApp, requireApp } from '@runner/common/apps/store';
import { readConfig } from '@runner/common/config/file';
import { pick } from '@runner/common/config/settings';
import { type DeployFile, readDeployFile } from '@runner/common/deploy-file/read';
import { foreignOwner } from '@runner/common/files/foreign-root';
import { FAILURE_CODES, Failure, type FailureCode } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { jsonObject } from '@runner/common/text/json';
import { contentsOf } from '@runner/deploy/git/contents';
import { sourceOf } from '@runner/deploy/git/open';
import { fetchWanted } from '@runner/deploy/git/ref';
import { bytesOfRelease } from '@runner/deploy/instances/kept-file';
import { leftEnabled, unitsInUse } from '@runner/deploy/instances/left-enabled';
import { previousOfAll } from '@runner/deploy/instances/target';
import { underLock } from '@runner/deploy/journal/lock';
import { accountOf, asOwner, ended } from './programs.ts';

/** Which `.deploy.yml`: of the active release, else of the newest commit; `next`: always that; `none`. */
export type WhichFile = 'active' | 'next' | 'none';

/** Reads the facts in this process. Throws what `runner deploy --check` throws before it looks at the server. */
export async function readFacts(server: Server, app: string, which: WhichFile): Promise<AppFacts> {
  const { paths } = server;
  // With a file of the caller's own, an app need not be registered yet.
  const state = which === 'none' ? findApp(paths, app) : requireApp(paths, app);
  const config = readConfig(paths);
  const proxy = pick(config, ['proxy_user'], []).get('proxy_user') as string | undefined;
  const facts = {
    app,
    version: null,
    deploy_file: null,
    active: state !== undefined && previousOfAll(state, []) !== null,
    units: state ? unitsInUse(paths, state) : [],
    left: state ? leftEnabled(server, state).flatMap((e) => (e.user ? [] : [e.unit])) : [],
    proxy_user: proxy ?? null,
  };
  if (!state || which === 'none') return facts;
  const active = which === 'active' ? previousOfAll(state, []) : null;
  if (active) {
    const bytes = bytesOfRelease(paths, app, active);
    return { ...facts, version: active.version, deploy_file: textOf(bytes) };
  }
  return underLock({ ...server, app }, 'setup', async () => {
    const signal = new AbortController().signal;
    const { source } = sourceOf({ ...server, signal }, state);
    const { commit, version } = await fetchWanted(source, undefined);
    const { bytes } = await contentsOf(source, commit, state.deploy_file);
    return { ...facts, version, deploy_file: textOf(bytes) };
  });
}

const textOf = (bytes: Buffer | undefined) => bytes?.toString('utf8') ?? null;

/** The facts, for root from a process of the owner; what that says is checked like any file. */
export async function factsOf(server: Server, app: string, which: WhichFile): Promise<AppFacts> {
  const { io, paths } = server;
  const owner = foreignOwner(io.uid, paths);
  if (owner === undefined) return readFacts(server, app, which);
  const [user = '', , home = '/'] = accountOf(io.env, String(owner));
  const own = Object.entries(io.env).filter(([name]) => !/^(XDG_|DBUS_|SUDO_|TMPDIR$)/.test(name));
  const env = { ...Object.fromEntries(own), HOME: home, USER: user, LOGNAME: user };
  const from = { active: [], next: ['--next'], none: ['--deploy-file', '/dev/null'] }[which];
  const args = [app, ...from, '--facts', '--json', '--root', paths.root];
  const child = ended(env, asOwner(server, [process.execPath, io.program, ...args]));
  const answer = jsonObject(child.stdout);
  if (child.status === 0 && answer) return checked(app, answer);
  const code = FAILURE_CODES.find((each) => each === answer?.error) as FailureCode | undefined;
  const said = typeof answer?.message === 'string' ? answer.message : child.stderr.trim();
  throw new Failure(code ?? 'setup_failed', said || 'the facts about the app could not be read');
}

/** What `runner setup --facts` prints. */
export type AppFacts = ReturnType<typeof checked>;

function checked(app: string, answer: Readonly<Record<string, unknown>>) {
  const text = (name: string) =>
    typeof answer[name] === 'string' ? (answer[name] as string) : null;
  const units = (name: string) =>
    (Array.isArray(answer[name]) ? (answer[name] as unknown[]) : []).filter(
      (each): each is string => typeof each === 'string' && /^[A-Za-z0-9][\w:.\\@-]*$/.test(each),
    );
  return {
    app,
    /** Of the commit from which `deploy_file` is; null without one. */
    version: text('version'),
    /** The text of `.deploy.yml`; null if the commit has none, or the app is not registered. */
    deploy_file: text('deploy_file'),
    /** Whether a version is active. */
    active: answer.active === true,
    /** Units that run now. */
    units: units('units'),
    /** Enabled units that the app no longer uses. */
    left: units('left'),
    /** `proxy_user` of config.yml. */
    proxy_user: text('proxy_user'),
  };
}

/** The `.deploy.yml` of the facts, with what a person calls it. Throws `deploy_file_invalid`. */
export function fileOf(facts: AppFacts, name: string | undefined): DeployFile {
  const { deploy_file: text, version } = facts;
  return readDeployFile(text === null ? undefined : Buffer.from(text), name, version !== null);
}
