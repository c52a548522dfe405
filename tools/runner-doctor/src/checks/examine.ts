/** Runs all checks: those of this server in parallel, and then those that need the network. */

import { statSync } from 'node:fs';
import { allNames } from '@runner/common/apps/store';
import { orElse, unlessFailure } from '@runner/common/foundation/attempt';
import { Failure, systemFailure } from '@runner/common/foundation/failure';
import { DEFAULT_ROOT, type Server } from '@runner/common/foundation/paths';
import { trippedGuards } from '@runner/common/guards/check';
import { word } from '@runner/common/text/shell';
import { mkeyFile } from '@runner/common/tokens/key-file';
import {
  type Check,
  type CheckResult,
  type Finding,
  flat,
  type PrintedFinding,
  problemFrom,
} from '../foundation/finding.ts';

export { endPrograms } from '../foundation/program.ts';

import { bell } from './bell.ts';
import { chats } from './chats.ts';
import { clock } from './clock.ts';
import { config } from './config.ts';
import { deploys } from './deploys.ts';
import { disk } from './disk.ts';
import { folders } from './folders.ts';
import { keys } from './keys.ts';
import { logs } from './logs.ts';
import { programs } from './programs.ts';
import { sandbox } from './sandbox.ts';
import { signers } from './signers.ts';
import { spool } from './spool.ts';
import { timers } from './timers.ts';
import { tokens } from './tokens.ts';
import { traffic } from './traffic.ts';
import { units } from './units.ts';
import { updates } from './updates.ts';

/** The checks by name, in the order in which their findings are printed. */
const CHECKS = {
  folders,
  keys,
  config,
  tokens,
  chats,
  timers,
  bell,
  units,
  disk,
  programs,
  sandbox,
  clock,
  deploys,
  signers,
  traffic,
  spool,
  logs,
  updates,
} satisfies Readonly<Record<string, Check>>;

/** Checks that need the network. */
const ONLINE: readonly string[] = ['tokens', 'chats', 'clock', 'updates'];

/** What `runner doctor --json` prints. */
export type Examination = Awaited<ReturnType<typeof examine>>;

/** All findings, in the order of the checks. */
export async function examine(context: Server, offline: boolean) {
  const { io, paths } = context;
  // Another user's root says no more than whose it is.
  const isOthers = io.uid !== 0 && orElse(() => statSync(paths.root).uid, io.uid) !== io.uid;
  const others = Object.keys(CHECKS).filter((name) => name !== 'folders');
  const skipped = isOthers ? others : offline || isForeign(context) ? ONLINE : [];
  const checks = Object.entries(CHECKS).filter(([name]) => !skipped.includes(name));
  const online = checks.filter(([name]) => ONLINE.includes(name));
  const local = checks.filter(([name]) => !ONLINE.includes(name));
  const runAll = (some: typeof checks) =>
    Promise.all(
      some.map(async ([name, check]) => [name, await run(name, check, context)] as const),
    );
  // What reads many apps keeps this process busy, and answers that come meanwhile would count as late.
  const results = new Map([...(await runAll(local)), ...(await runAll(online))]);
  const found = checks.flatMap(([name]) => results.get(name) ?? []);
  const findings = withoutRepeats(found).map((each) => printed(withCause(each, found)));
  const countOf = (level: string) => findings.filter((each) => each.level === level).length;
  const problems = countOf('problem');
  return {
    root: paths.root,
    healthy: problems === 0,
    problems,
    warnings: countOf('warning'),
    /** Names of the checks that were skipped: `--offline`, others could have changed files, another user's root. */
    skipped,
    findings,
  };
}

/** Whether others could have changed where secrets are sent; `folders` reports the details. */
function isForeign({ io, paths }: Server): boolean {
  const states = unlessFailure(() => allNames(paths), []).map((app) => paths.state(app));
  const asker = { io, command: 'runner doctor', rootNamed: true };
  const inRoot = (path: string) => path === paths.root || path.startsWith(`${paths.root}/`);
  return trippedGuards(paths, states, asker).some(
    ({ guard, path }) =>
      (guard === 'owner' || guard === 'writable') &&
      (inRoot(path) || path === mkeyFile(paths, io.env)),
  );
}

/** Runs one check. An error in it becomes a problem and does not stop the other checks. */
async function run(name: string, check: Check, context: Server): Promise<readonly Finding[]> {
  try {
    const found = await check(context);
    return flat(found).map((each) => ({ check: name, ...withRoot(each, context) }));
  } catch (error) {
    const failure = systemFailure(error, 'finish this check', 'file_unreadable');
    if (!(failure instanceof Failure)) throw error;
    const again = context.io.uid === 0 ? 'runner doctor' : 'sudo runner doctor';
    return [{ check: name, ...withRoot(problemFrom(failure, again), context) }];
  }
}

/** Drops repeated reports of an untrusted file: `folders` reports it with the command that fixes it. */
function withoutRepeats(found: readonly Finding[]): readonly Finding[] {
  const isReported = found.some(isBadFolder);
  const isRepeat = ({ check, about }: Finding) =>
    check !== 'folders' && about?.code === 'guard_tripped';
  return isReported ? found.filter((each) => !isRepeat(each)) : found;
}

const isBadFolder = ({ check, level }: Finding) => check === 'folders' && level === 'problem';

/** If a check was denied access, the command of the matching `folders` finding fixes it. */
function withCause(finding: Finding, all: readonly Finding[]): Finding {
  const { check, about } = finding;
  if (check === 'folders' || !about?.isDenied) return finding;
  const causes = all.filter(isBadFolder);
  const isAbove = (folder: string | undefined) =>
    folder !== undefined && `${about.path}/`.startsWith(`${folder}/`);
  const cause = causes.find((each) => isAbove(each.about?.path)) ?? causes[0];
  return cause === undefined ? finding : { ...finding, fix: cause.fix };
}

function printed({ check, level, message, fix }: Finding): PrintedFinding {
  return { check, level, message, fix, mend: fix };
}

/** Adds `--root` to a runner command that would otherwise use another root. */
function withRoot(found: CheckResult, { io, paths }: Server): CheckResult {
  const { fix } = found;
  const ours =
    fix !== null && /^(?:sudo (?:-u '#\d+' )?)?runner /.test(fix) && !fix.includes(' --root ');
  const known = paths.root === DEFAULT_ROOT || (io.env.RUNNER_ROOT && !fix?.startsWith('sudo '));
  if (!ours || known) return found;
  const named = fix.split(' && ').map((each) => `${each} --root ${word(paths.root)}`);
  return { ...found, fix: named.join(' && ') };
}
