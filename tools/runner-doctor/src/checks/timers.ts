/** Whether the systemd timers run, which deploy new commits. */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import { readConfig } from '@runner/common/config/file';
import { notifySettingsOf } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import { word } from '@runner/common/text/shell';
import { type Found, ok, orOk, type Patient, problem, warning } from '../foundation/finding.ts';
import { runFor } from '../foundation/program.ts';

/** The package's timers, what is not done without them, what they run, and when cron would. */
const TIMERS = {
  'runner-fetch.timer': {
    undone: 'new commits are not deployed automatically',
    tool: 'runner-fetch',
    args: '--deploy --quiet',
    when: '* * * * *',
  },
  'runner-notify.timer': {
    undone: 'waiting messages are sent only by the next deploy',
    tool: 'runner-notify',
    args: 'flush',
    when: '* * * * *',
  },
  'runner-tokens.timer': {
    undone: 'a token that ends soon is not announced',
    tool: 'runner-tokens',
    args: 'test --all --quiet',
    when: '17 6 * * *',
  },
  'runner-digest.timer': {
    undone: 'the digest of the week is not sent, which notify.digest asks for',
    tool: 'runner-notify',
    args: 'digest --scheduled',
    when: '0 7 * * 1',
  },
} as const;
type Timer = keyof typeof TIMERS;
/** This service shows the user and the root of the timers. */
const SERVICE = 'runner-fetch.service';
const SHOWN = ['Id', 'LoadState', 'ActiveState', 'UnitFileState', 'User', 'ExecStart'];
const TIMEOUT = 15_000;
const HOUR = 3_600_000;

type Unit = Readonly<Record<string, string | undefined>>;

export async function timers(patient: Patient): Promise<readonly Found[]> {
  const { io, paths } = patient;
  const names = neededNames(patient);
  const ask = ['show', `--property=${SHOWN.join(',')}`, ...names, SERVICE];
  const ran = await runFor(io, TIMEOUT, 'systemctl', ask);
  if (ran === undefined || ran.status !== 0)
    return [ok('systemd is not running here: let cron run runner fetch --deploy')];
  const { apps } = listApps(paths);
  if (apps.length === 0) return [ok('no app is registered, so no timer is needed')];
  const units = ran.stdout
    .trim()
    .split(/\n{2,}/)
    .map(unitOf);
  const unit = (name: string) => units.find(({ Id }) => Id === name);
  const service = unit(SERVICE);
  const elsewhere = isForAnother(service, paths.root);
  const cron = await runFor(io, TIMEOUT, 'crontab', ['-l']);
  const found = names.flatMap((name) => {
    const timer = unit(name);
    if (timer === undefined) return [];
    if (timer.LoadState !== 'not-found' && !elsewhere) return judged(name, timer);
    const line = cronLine(patient, name);
    if (cron?.stdout.includes(line)) return [];
    const lacks = elsewhere ? `${name} is for another root` : `${name} is not installed`;
    const mend = `(crontab -l 2>/dev/null; echo ${word(line)}) | crontab -`;
    return [warning(`${lacks}: ${TIMERS[name].undone}`, mend)];
  });
  const wrong = elsewhere ? [] : await ofAnotherUser(patient, service);
  const idle = found.length + wrong.length === 0 ? lookedLast(apps, io.now().getTime()) : [];
  const well = elsewhere ? 'cron does the work of the timers' : `${names.join(', ')} are active`;
  return orOk([...wrong, ...found, ...idle], well);
}

/** The digest has a timer of its own, which does nothing unless the digest is wanted. */
function neededNames({ io, paths }: Patient): Timer[] {
  const wantsDigest = () => {
    try {
      return notifySettingsOf(readConfig(paths), io.env).digest;
    } catch (error) {
      // The check of config.yml reports it.
      if (error instanceof Failure) return false;
      throw error;
    }
  };
  const names = Object.keys(TIMERS) as Timer[];
  return names.filter((name) => name !== 'runner-digest.timer' || wantsDigest());
}

/** Whether the installed timers work for a different root. */
function isForAnother(service: Unit | undefined, root: string): boolean {
  const started = service?.ExecStart;
  return started !== undefined && started !== '' && !`${started} `.includes(` --root ${root} `);
}

function cronLine({ io, paths }: Patient, name: Timer): string {
  const { tool, args, when } = TIMERS[name];
  return `${when} ${word(join(dirname(io.program), tool))} ${args} --root ${word(paths.root)}`;
}

/** The timers can neither read nor write files of another account. */
async function ofAnotherUser({ io, paths }: Patient, service: Unit | undefined): Promise<Found[]> {
  const user = service?.User ?? '';
  if (user === '') return [];
  const id = await runFor(io, TIMEOUT, 'id', ['-u', user]);
  const { uid } = statSync(paths.root);
  if (id?.status !== 0 || Number(id.stdout) === uid) return [];
  return [
    problem(
      `the timers work as ${user}, but ${paths.root} belongs to user ${uid}`,
      `chown -R --from=${uid} ${word(user)}: ${word(paths.root)}`,
    ),
  ];
}

/** A timer may run while its service fails: then no app has been checked for a long time. */
function lookedLast(apps: readonly AppState[], now: number): Found[] {
  const times = apps.flatMap(({ last_checked: time }) => (time === null ? [] : Date.parse(time)));
  const hours = Math.floor((now - Math.max(...times)) / HOUR);
  if (times.length === 0 || !(hours >= 1)) return [];
  const what = `the timers are active, but no app has been checked for ${hours} h`;
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

function judged(name: Timer, unit: Unit): Found[] {
  const { undone } = TIMERS[name];
  const enable = `systemctl enable --now ${name}`;
  if (unit.ActiveState === 'failed')
    return [problem(`${name} has failed: ${undone}`, `systemctl restart ${name}`)];
  if (unit.ActiveState !== 'active')
    return [warning(`${name} is ${unit.ActiveState}: ${undone}`, enable)];
  if (unit.UnitFileState === 'disabled')
    return [warning(`${name} runs, but not after the next boot`, enable)];
  return [];
}
