/** Runs every escape attempt without the sandbox and in its profiles. */
import { type StdioOptions, spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { appNames } from '@runner/common/apps/store';
import { orElse } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { HostGuard } from '@runner/deploy/guard/guard';
import { NetworkNotes } from '@runner/deploy/guard/notes';
import { cutOff } from '@runner/deploy/run/outside';
import { launcher } from '@runner/deploy/sandbox/guarded';
import { accountHome } from '@runner/deploy/sandbox/hidden';
import { mountsFor, type Profile } from '@runner/deploy/sandbox/mounts';
import { bubblewrap } from '@runner/deploy/sandbox/probe';
import { settingOf } from '@runner/deploy/sandbox/sandbox';
import type { Variables } from '@runner/deploy/sandbox/settings';
import { ATTEMPTS } from './attempts.ts';
import { type Decoy, makeDecoy } from './decoy.ts';

/** absent: this server has nothing of the kind to attack. */
export type AttemptResult = 'reached' | 'stopped' | 'absent';

/** The profiles that are tried, each with the commands that have it. */
export const PROFILES = ['build', 'hook', 'app'] as const satisfies readonly Profile[];

/** In milliseconds. */
const TIMEOUT = 10_000;
/** How long to wait for the proof of a process that keeps running, in milliseconds. */
const LEFTOVER = 1_500;

/** What `runner doctor --sandbox` prints. */
export type SandboxReport = Awaited<ReturnType<typeof tryEscapes>>;
/** One row of the table: a result per profile; null if the sandbox cannot run. */
export type Tried = SandboxReport['attempts'][number];

/** Throws `config_invalid`. */
export async function tryEscapes({ io, paths }: Server) {
  const setting = (app: string) => settingOf({ paths, env: io.env, app }).mode;
  const mode = setting('');
  /** Apps whose commands run without the sandbox although the mode says otherwise. */
  const off_for = orElse(() => appNames(paths), []).filter(
    (app) => mode !== 'off' && setting(app) === 'off',
  );
  const found = bubblewrap(io.env);
  const program = 'program' in found ? found.program : undefined;
  const decoy = await makeDecoy(io.env);
  // A signal may end this in between.
  process.once('exit', decoy.remove);
  const without = await tryAll(io, decoy);
  const inEach = {} as Record<Profile, readonly AttemptResult[]>;
  const broken: Profile[] = [];
  for (const profile of program === undefined ? [] : PROFILES) {
    const sandbox = { program: program as string, profile };
    inEach[profile] = await tryAll(io, decoy, sandbox);
    if (!(await runs(io, decoy, sandbox))) broken.push(profile);
  }
  const attempts = ATTEMPTS.map(({ group, name, openTo = [] }, at) => {
    const outside = without[at] as AttemptResult;
    const of = (profile: Profile) => inside(outside, inEach[profile]?.[at]);
    const results = { build: of('build'), hook: of('hook'), app: of('app') };
    /** Profiles that may do this. */
    const open_to: readonly Profile[] = openTo;
    return { group, attempt: name, without: outside, open_to, ...results };
  });
  const escaped = attempts.filter((each) =>
    PROFILES.some((name) => each[name] === 'reached' && !each.open_to.includes(name)),
  ).length;
  const stopped = `no command can run in it as ${broken.join(', ')}`;
  /** Why the sandbox cannot run here; null if it can. */
  const problem = 'problem' in found ? found.problem : broken.length > 0 ? stopped : null;
  /** Whether commands run in the sandbox, and no attempt escaped. */
  const holds = problem === null && mode !== 'off' && escaped === 0;
  return { holds, mode, off_for, problem, escaped, attempts };
}

/** What exists on the server but cannot be seen in the sandbox counts as stopped. */
function inside(outside: AttemptResult, found: AttemptResult | undefined): AttemptResult | null {
  if (found === undefined) return null;
  if (outside === 'absent') return 'absent';
  return found === 'absent' ? 'stopped' : found;
}

interface SandboxedProgram {
  readonly program: string;
  readonly profile: Profile;
  /** Carries its network. */
  readonly guard?: HostGuard | undefined;
}

async function tryAll(
  io: Server['io'],
  decoy: Decoy,
  sandbox?: SandboxedProgram,
): Promise<AttemptResult[]> {
  const results: AttemptResult[] = [];
  const late: (() => void)[] = [];
  process.once('exit', () => {
    for (const check of late) check();
  });
  for (const [at, attempt] of ATTEMPTS.entries()) {
    const mark = `runner-escape-${process.pid}-${sandbox?.profile ?? 'without'}-${at}`;
    const folder = decoy.folder(`.tmp-${mark}`);
    const env = variablesOf(io, decoy, mark, folder);
    const words = ['/bin/sh', '-c', attempt.script];
    const isGuarded = attempt.isGuarded && sandbox?.profile === 'build';
    const guard = isGuarded
      ? new HostGuard({ rules: [], learns: false, notes: new NetworkNotes() })
      : undefined;
    const command = sandbox ? confined(decoy, folder, env, { ...sandbox, guard }) : [];
    const { leaves } = attempt;
    if (leaves !== undefined)
      late.push(() => {
        const left = hasLeft(leaves.replace(/\$(\w+)/g, (_, name: string) => env[name] ?? ''));
        if (results[at] !== 'absent') results[at] = left;
      });
    results[at] = await tryOne([...command, ...words], folder, env, guard);
  }
  await new Promise((resolve) => setTimeout(resolve, LEFTOVER));
  for (const check of late) check();
  return results;
}

/** Whether a command that does nothing succeeds: otherwise no attempt can. */
async function runs(io: Server['io'], decoy: Decoy, sandbox: SandboxedProgram): Promise<boolean> {
  const folder = decoy.folder('.tmp-runs');
  const env = variablesOf(io, decoy, 'runs', folder);
  const words = [...confined(decoy, folder, env, sandbox), '/bin/sh', '-c', 'exit 0'];
  return (await tryOne(words, folder, env)) === 'reached';
}

/** Whether an attempt left a file on the server; removes it. */
function hasLeft(path: string): AttemptResult {
  const isLeft = existsSync(path);
  rmSync(path, { force: true });
  return isLeft ? 'reached' : 'stopped';
}

function variablesOf(io: Server['io'], decoy: Decoy, mark: string, folder: string): Variables {
  const { PATH = '/usr/local/bin:/usr/bin:/bin', TMPDIR, XDG_RUNTIME_DIR } = io.env;
  return {
    PATH,
    ROOT: decoy.paths.root,
    OUTER_HOME: decoy.home,
    RUNNER: String(decoy.runner.pid),
    NODE: process.execPath,
    MARK: mark,
    PROOF: join(folder, 'proof'),
    AGENT: decoy.agent,
    ABSTRACT: decoy.abstract,
    PORT: decoy.ports[0],
    PORT6: decoy.ports[1],
    PORT_UDP: decoy.ports[2],
    MEMORY: decoy.memory,
    ACCOUNT_HOME: accountHome() ?? '',
    ...(TMPDIR !== undefined && { TMPDIR }),
    ...(XDG_RUNTIME_DIR !== undefined && { XDG_RUNTIME_DIR }),
  };
}

/** What runs a command of the decoy in a profile. */
function confined(
  { paths, home, shared, slot, folder: folderOf }: Decoy,
  release: string,
  env: Variables,
  { program, profile, guard }: SandboxedProgram,
): string[] {
  const scratch = () => ({
    temporary: folderOf('.tmp-scratch'),
    home: folderOf('.tmp-home'),
    network: folderOf('.tmp-network'),
  });
  const own = { ...env, HOME: home };
  const subject = { paths, app: 'escape', env: own, allow: [], scratch, program };
  const mounts = mountsFor(profile, subject, { release, shared, slot, network: guard });
  const launch = guard ? launcher(program, guard).words : [];
  return [program, ...mounts, '--chdir', release, '--', ...launch];
}

function tryOne(
  [file, ...args]: readonly string[],
  cwd: string,
  env: Variables,
  guard?: HostGuard,
): Promise<AttemptResult> {
  return new Promise((resolve) => {
    const stdio: StdioOptions = guard ? [...Array(5).fill('ignore'), 'ipc'] : 'ignore';
    const options = { cwd, env, stdio, detached: true, timeout: TIMEOUT } as const;
    const child = cutOff(() => spawn(file as string, args, options));
    guard?.carry(child);
    child.once('error', () => resolve('stopped'));
    child.once('exit', (status) =>
      resolve(status === 0 ? 'reached' : status === 3 ? 'absent' : 'stopped'),
    );
  });
}
