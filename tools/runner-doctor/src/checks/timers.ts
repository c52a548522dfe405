/** Whether systemd's timers run: they are what makes a push a deploy. */
import type { AppState } from '@runner/common/app-state';
import { listApps } from '@runner/common/apps';
import { type Found, ok, orWell, type Patient, problem, warning } from '../finding.ts';
import { runFor } from '../program.ts';

/** Timers that the package brings, and what stays undone without them. */
const TIMERS = {
  'runner-fetch.timer': 'new commits are not deployed by themselves',
  'runner-notify.timer': 'messages that wait are sent only by the next deploy',
} as const;
const TIMEOUT = 5_000;
const HOUR = 3_600_000;

type Unit = Readonly<Record<string, string | undefined>>;

export async function timers({ io, paths }: Patient): Promise<readonly Found[]> {
  const names = Object.keys(TIMERS) as (keyof typeof TIMERS)[];
  const shown = ['Id', 'LoadState', 'ActiveState', 'UnitFileState'].join(',');
  const ran = await runFor(io, TIMEOUT, 'systemctl', ['show', `--property=${shown}`, ...names]);
  if (ran === undefined || ran.status !== 0)
    return [ok('systemd does not run here: let cron run runner fetch --deploy')];
  const { apps } = listApps(paths);
  if (apps.length === 0) return [ok('no app is registered, so no timer is needed')];
  const units = ran.stdout
    .trim()
    .split(/\n{2,}/)
    .map(unitOf);
  const found = names.flatMap((name) => {
    const unit = units.find(({ Id }) => Id === name);
    return unit ? judged(name, unit) : [];
  });
  const idle = found.length === 0 ? lookedLast(apps, io.now().getTime()) : [];
  return orWell([...found, ...idle], `${names.join(' and ')} are active`);
}

/** A timer may run and its service fail: then the apps were not looked at for long. */
function lookedLast(apps: readonly AppState[], now: number): Found[] {
  const times = apps.flatMap(({ last_checked: time }) => (time === null ? [] : Date.parse(time)));
  const hours = Math.floor((now - Math.max(...times)) / HOUR);
  if (times.length === 0 || !(hours >= 1)) return [];
  const what = `the timers are active, but no app was looked at for ${hours} h`;
  return [warning(what, 'journalctl -n 50 -u runner-fetch.service')];
}

function unitOf(text: string): Unit {
  return Object.fromEntries(
    text.split('\n').map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
}

function judged(name: keyof typeof TIMERS, unit: Unit): Found[] {
  const enable = `systemctl enable --now ${name}`;
  if (unit.LoadState === 'not-found')
    return [warning(`${name} is not installed: ${TIMERS[name]}`, enable)];
  if (unit.ActiveState === 'failed')
    return [problem(`${name} has failed: ${TIMERS[name]}`, `systemctl restart ${name}`)];
  if (unit.ActiveState !== 'active')
    return [warning(`${name} is ${unit.ActiveState}: ${TIMERS[name]}`, enable)];
  if (unit.UnitFileState === 'disabled')
    return [warning(`${name} runs, but not after the next boot`, enable)];
  return [];
}
