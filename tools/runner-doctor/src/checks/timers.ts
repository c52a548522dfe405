/** Whether the systemd timers that deploy new commits are active. */

import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import { readConfig } from '@runner/common/config/file';
import { notifySettingsOf } from '@runner/common/config/settings';
import { isThere } from '@runner/common/files/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { type Findings, flat, ok, orOk, problem, warning } from '../foundation/finding.ts';
import { runFor } from '../foundation/program.ts';
import { showUnits, type UnitProperties, unitFindings } from '../foundation/systemd.ts';

/** The package's timers: the consequence if one is missing, and its command and schedule for cron [default: each minute]. */
const TIMERS = {
  'runner-fetch.timer': {
    consequence: 'new commits are not deployed automatically',
    command: 'runner-fetch --deploy --quiet',
  },
  'runner-jobs.timer': {
    consequence: 'jobs begin only when runner fetch --deploy looks for them',
    command: 'runner-jobs run --due',
  },
  'runner-notify.timer': {
    consequence: 'waiting messages are sent only by the next deploy',
    command: 'runner-notify flush',
  },
  'runner-tokens.timer': {
    consequence: 'expiring tokens are not announced',
    command: 'runner-tokens test --all --quiet',
    when: '17 6 * * *',
  },
  'runner-digest.timer': {
    consequence: 'the weekly digest of notify.digest is not sent',
    command: 'runner-notify digest --scheduled',
    when: '0 7 * * 1',
  },
};
type Timer = keyof typeof TIMERS;
/** Its unit names the user and the root of the timers. */
const SERVICE = 'runner-fetch.service';
const HOUR = 3_600_000;

export async function timers(context: Server): Promise<Findings> {
  const { io, paths } = context;
  const names = neededNames(context);
  const { apps } = listApps(paths);
  const unit = await showUnits(io, [...names, SERVICE], ['User', 'ExecStart']);
  if (!unit) {
    const jobs = names.includes('runner-jobs.timer') ? ' and runner jobs run --due' : '';
    const how = `use cron to run runner fetch --deploy${jobs}`;
    const line = `(crontab -l 2>/dev/null; echo ${word(cronLine(context, 'runner-fetch.timer'))}) | crontab -`;
    const idle = lastCheckOf(apps, io.now().getTime(), ['systemd is not running here, and', line]);
    return orOk(idle, `systemd is not running here: ${how}`);
  }
  if (apps.length === 0) return ok('no app is registered, so no timer is needed');
  const service = unit(SERVICE);
  const elsewhere = isForAnother(service, paths.root);
  const cron = await runFor(io, 'crontab', ['-l']);
  const found = names.flatMap((name) => {
    const timer = unit(name);
    if (timer === undefined) return [];
    if (timer.LoadState !== 'not-found' && !elsewhere)
      return unitFindings(name, TIMERS[name].consequence, timer);
    const line = cronLine(context, name);
    if (cron?.stdout.includes(line)) return [];
    const lacks = elsewhere ? `${name} is for another root` : `${name} is not installed`;
    const fix = `(crontab -l 2>/dev/null; echo ${word(line)}) | crontab -`;
    return warning(`${lacks}: ${TIMERS[name].consequence}`, fix);
  });
  const wrong = elsewhere ? [] : await ofAnotherUser(context, service);
  const idle =
    flat([found, wrong]).length === 0 ? lastCheckOf(apps, io.now().getTime(), ACTIVE) : [];
  const well = elsewhere ? 'cron replaces the timers' : `${names.join(', ')} are active`;
  return orOk([wrong, found, idle], well);
}

/** The digest's timer only if notify.digest is set, and that of jobs only if an app has some. */
function neededNames({ io, paths }: Server): Timer[] {
  // An invalid config.yml is reported by the `config` check.
  const read = () => notifySettingsOf(readConfig(paths), io.env).digest;
  const wantsDigest = unlessFailure(read, false);
  const hasJobs = listApps(paths).apps.some(({ app }) => isThere(paths.app(app).jobs));
  const needed: Partial<Record<Timer, boolean>> = {
    'runner-jobs.timer': hasJobs,
    'runner-digest.timer': wantsDigest,
  };
  return (Object.keys(TIMERS) as Timer[]).filter((name) => needed[name] ?? true);
}

/** Whether the installed timers work for a different root. */
function isForAnother(service: UnitProperties | undefined, root: string): boolean {
  const started = service?.ExecStart;
  return started !== undefined && started !== '' && !`${started} `.includes(` --root ${root} `);
}

function cronLine({ io, paths }: Server, name: Timer): string {
  const { command, when = '* * * * *' }: { command: string; when?: string } = TIMERS[name];
  const [tool = '', ...args] = command.split(' ');
  const program = word(join(dirname(io.program), tool));
  const line = [program, ...args, '--root', word(paths.root)].join(' ');
  // In a crontab, % ends the line.
  return `${when} ${line.replaceAll('%', '\\%')}`;
}

/** The timers can neither read nor write files of another account. */
async function ofAnotherUser(
  { io, paths }: Server,
  service: UnitProperties | undefined,
): Promise<Findings> {
  const user = service?.User ?? '';
  if (user === '') return [];
  const id = await runFor(io, 'id', ['-u', user]);
  const { uid } = statSync(paths.root);
  if (id?.status !== 0 || Number(id.stdout) === uid) return [];
  return problem(
    `the timers run as ${user}, but ${paths.root} belongs to user ${uid}`,
    `chown -R --from=${uid} ${word(user)}: ${word(paths.root)}`,
  );
}

/** A timer may be active while its service fails. */
const ACTIVE = ['the timers are active, but', 'journalctl -n 50 -u runner-fetch.service'] as const;

/** That no app has been checked for hours. */
function lastCheckOf(
  apps: readonly AppState[],
  now: number,
  [what, fix]: readonly [what: string, fix: string],
): Findings {
  const times = apps.flatMap(({ last_checked: time }) => (time === null ? [] : Date.parse(time)));
  const hours = Math.floor((now - Math.max(...times)) / HOUR);
  if (times.length === 0 || !(hours >= 1)) return [];
  return warning(`${what} no app has been checked for ${hours} h`, fix);
}
