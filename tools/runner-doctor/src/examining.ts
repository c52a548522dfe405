/** Runs all checks at once, and puts what they find in order. */
import { Failure, systemFailure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { DEFAULT_ROOT, type Paths } from '@runner/common/foundation/paths';
import { word } from '@runner/common/guards/mends';
import { chats } from './checks/chats.ts';
import { clock } from './checks/clock.ts';
import { config } from './checks/config.ts';
import { deploys } from './checks/deploys.ts';
import { disk } from './checks/disk.ts';
import { folders } from './checks/folders.ts';
import { keys } from './checks/keys.ts';
import { logs } from './checks/logs.ts';
import { programs } from './checks/programs.ts';
import { spool } from './checks/spool.ts';
import { timers } from './checks/timers.ts';
import { tokens } from './checks/tokens.ts';
import {
  CHECKS,
  type Check,
  type CheckName,
  type Examination,
  type Finding,
  type Found,
  type Patient,
  problem,
} from './finding.ts';

const OF_NAME: Readonly<Record<CheckName, Check>> = {
  folders,
  keys,
  config,
  tokens,
  chats,
  timers,
  disk,
  programs,
  clock,
  deploys,
  spool,
  logs,
};

export { endPrograms } from './program.ts';

/** Checks that speak to others, which `--offline` leaves out. */
const ONLINE: readonly CheckName[] = ['tokens', 'chats', 'clock'];

/** All findings in the order of `CHECKS`. */
export async function examine(
  { io, paths }: { readonly io: Io; readonly paths: Paths },
  offline: boolean,
): Promise<Examination> {
  const patient: Patient = { io, paths, offline };
  const skipped = offline ? ONLINE : [];
  const names = CHECKS.filter((name) => !skipped.includes(name));
  const found = (await Promise.all(names.map((name) => look(name, patient)))).flat();
  const findings = found.map((each) => byItsCause(each, found));
  const countOf = (level: string) => findings.filter((each) => each.level === level).length;
  const problems = countOf('problem');
  return {
    root: paths.root,
    healthy: problems === 0,
    problems,
    warnings: countOf('warning'),
    skipped,
    findings,
  };
}

/** One check; what it could not look at is a problem, and hides no other check. */
async function look(check: CheckName, patient: Patient): Promise<readonly Finding[]> {
  try {
    const found = await OF_NAME[check](patient);
    return found.map((each) => ({ check, ...rooted(each, patient) }));
  } catch (error) {
    const failure = systemFailure(error, 'finish this check', 'file_unreadable');
    if (!(failure instanceof Failure)) throw error;
    const again = patient.io.uid === 0 ? 'runner doctor' : 'sudo runner doctor';
    return [{ check, ...rooted(problem(failure.message, again), patient) }];
  }
}

/**
 * What may not be read is mended by what the check of the folders says about it, not by whatever
 * stumbled over it.
 */
function byItsCause(finding: Finding, all: readonly Finding[]): Finding {
  if (finding.check === 'folders' || !finding.message.endsWith(': permission denied'))
    return finding;
  const causes = all.filter(({ check, level }) => check === 'folders' && level === 'problem');
  const pathOf = ({ message }: Finding) => message.slice(0, message.indexOf(' '));
  const cause = causes.find((each) => finding.message.includes(pathOf(each))) ?? causes[0];
  return cause === undefined ? finding : { ...finding, mend: cause.mend };
}

/** A command of ours has to mend the root that was looked at, also where it is not the usual one. */
function rooted(found: Found, { io, paths }: Patient): Found {
  const { mend } = found;
  const ours =
    mend !== null && /^(?:sudo (?:-u '#\d+' )?)?runner /.test(mend) && !mend.includes(' --root ');
  const known = paths.root === DEFAULT_ROOT || (io.env.RUNNER_ROOT && !mend?.startsWith('sudo '));
  if (!ours || known) return found;
  const named = mend.split(' && ').map((each) => `${each} --root ${word(paths.root)}`);
  return { ...found, mend: named.join(' && ') };
}
