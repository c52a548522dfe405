/**
 * `start.type: systemd`: restarts (or reloads) an existing unit, which finds the release through
 * `current`. The recommended driver: systemd restarts what crashes and keeps its output.
 */
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { otherSlot, type SlotName } from '@runner/common/apps/slots';
import { loginName } from '@runner/common/foundation/user';
import { loggedFailure, StepFailure, withEnding, withOutput } from '../../run/step.ts';
import { writeEnvFile } from '../env-file.ts';
import { strangerToUsers } from '../stranger.ts';
import { ask } from './ask.ts';
import { type Driver, only, runFor, type Target } from './driver.ts';
import { newestOf } from './journal.ts';
import {
  answerAbout,
  askUnit,
  manager,
  ownUnit,
  processesIn,
  restartsIn,
  SHOWN,
  type Systemd,
  shownOf,
  stateOf,
  statusIn,
  type UnitTarget,
  whyDead,
} from './unit-state.ts';

/** A unit that stays active for this long counts as started, in milliseconds. */
const SETTLE = 500;
/** Lines of the journal that an error shows. */
const JOURNAL_LINES = 50;
/** Time for the journal to receive a program's last output, in milliseconds. */
const JOURNAL_DELAY = 200;

/** Missing permission to control the unit, which no other commit would change. */
export const NOT_ALLOWED =
  /Access denied|authentication required|Failed to connect to .*bus|Permission denied/i;

/** Who listens on a port instead of the unit's users, in words. */
function strangerTo(target: UnitTarget, port: number): string | undefined {
  const value = shownOf(
    answerAbout(target, 'show', '--property', 'MainPID,ControlGroup,TriggeredBy'),
  );
  // systemd itself listens for it.
  if (value('TriggeredBy').includes('.socket')) return undefined;
  const uids = processesIn(value).flatMap(
    (pid) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? [],
  );
  return uids.length === 0 ? undefined : strangerToUsers(uids, port);
}

/** What the unit has logged since `since`, in seconds since 1970. */
function journal(target: Target<Systemd>, since: number): string {
  const { start, outerEnv: env, redact } = target;
  const unit = ownUnit(target);
  const main = answerAbout(target, 'show', '--property', 'ExecMainPID');
  const pid = /^ExecMainPID=([1-9]\d*)$/m.exec(main)?.[1];
  const field = start.user ? 'USER_UNIT' : 'UNIT';
  // By pid too: if a program ends at once, the journal does not know its user unit.
  const which = [`_SYSTEMD_${field}=${unit}`, '+', `${field}=${unit}`];
  const all = pid === undefined ? which : [...which, '+', `_PID=${pid}`];
  const whose = [...manager(start), ...all];
  const { args } = newestOf({ which: whose, since, lines: JOURNAL_LINES, env });
  return redact(ask('journalctl', args, { env }).stdout);
}

async function control(target: Target<Systemd>, verb: string, timeout: number): Promise<void> {
  const { start } = target;
  const unit = ownUnit(target);
  try {
    await runFor(target, {
      label: verb === 'stop' ? verb : 'start',
      title: ['systemctl', ...manager(start), verb, unit].join(' '),
      file: 'systemctl',
      args: [...manager(start), verb, '--', unit],
      timeout,
      env: target.outerEnv,
      serverFault: NOT_ALLOWED,
    });
  } catch (error) {
    const isRefused = error instanceof StepFailure && NOT_ALLOWED.test(error.output);
    if (!isRefused || start.user) throw error;
    throw withEnding(error, `: does /etc/runner/units list ${unit}?`);
  }
}

export const systemdDriver: Driver<Systemd> = {
  user(target) {
    if (target.start.user) return undefined;
    const user =
      /^User=(.+)$/m.exec(answerAbout(target, 'show', '--property', 'User'))?.[1] ?? 'root';
    return user === loginName({ uid: process.geteuid?.() ?? 0 }) ? undefined : user;
  },
  async start(target) {
    const { start } = target;
    writeEnvFile(target);
    const since = Math.floor(Date.now() / 1000);
    // A unit that crashed too often could not be started otherwise, not even the previous release.
    answerAbout(target, 'reset-failed');
    try {
      await control(target, start.reload ? 'reload-or-restart' : 'restart', start.timeout);
    } catch (error) {
      await sleep(JOURNAL_DELAY);
      // systemctl only says that it failed.
      if (error instanceof StepFailure) throw withOutput(error, target.log, journal(target, since));
      throw error;
    }
    const begin = stateOf(target);
    const death = () => {
      const why = whyDead(stateOf(target), begin);
      if (why === undefined) return undefined;
      return { words: `the unit ${ownUnit(target)} ${why}`, output: journal(target, since) };
    };
    await sleep(SETTLE);
    if (death()) {
      await sleep(JOURNAL_DELAY);
      const early = death();
      if (early) throw loggedFailure(target.log, 'start', `start: ${early.words}`, early.output);
    }
    const output = () => journal(target, since);
    return { death, output, strangerOn: (port) => strangerTo(target, port) };
  },
  async stop(target) {
    // Stopping would need permission even if the unit does not run.
    if (stateOf(target).active !== 'inactive')
      await control(target, 'stop', target.start.stopTimeout);
    // A slot that was live is enabled, and the next boot would start it.
    if (target.slot !== undefined) answerAbout(target, 'disable');
  },
  async live(target) {
    const { start, slot, outerEnv: env, log } = target;
    if (slot === undefined) return;
    // Without the right to enable units, `fetch` starts what is live after a reboot.
    const change = (verb: string, of: SlotName) => {
      const unit = ownUnit({ ...target, slot: of });
      return askUnit(start, unit, env, verb).status === 0;
    };
    const isEnabled = change('enable', slot) && change('disable', otherSlot(slot));
    if (!isEnabled) log.line(`${ownUnit(target)} could not be enabled`);
  },
  status(target) {
    const { start, outerEnv: env } = target;
    return {
      program: 'systemctl',
      args: [...manager(start), 'show', `--property=${SHOWN}`, '--'],
      subject: ownUnit(target),
      env: only(env, ['PATH', 'LANG', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS']),
      read(stdout, at) {
        const value = shownOf(stdout, at);
        const pids = () => processesIn(value);
        return { status: statusIn(value), restarts: restartsIn(value), pids };
      },
    };
  },
};
