/**
 * `start.type: systemd`: an existing unit is restarted (or reloaded) and takes the release through
 * `current`. The recommended driver: systemd restarts what crashes and keeps its output.
 */
import { spawnSync } from 'node:child_process';
import type { Start } from '@runner/common/deploy-file';
import { runStep, StepFailure } from '../step.ts';
import type { Driver, Target } from './driver.ts';

type Systemd = Extract<Start, { type: 'systemd' }>;

/** A unit that is active for this many milliseconds counts as started. */
const SETTLE = 500;
/** Lines of the journal that an error shows. */
const JOURNAL_LINES = '50';
const STOP_TIMEOUT = 90_000;

/** `app@.service` and `app@%i.service` of the instance `web` are `app@web.service`. */
export function unitOf(unit: string, instance: string): string {
  return unit.replaceAll('%i', instance).replace('@.', `@${instance}.`);
}

function manager(start: Systemd): string[] {
  return start.user ? ['--user'] : [];
}

/** What `is-active` says: `active`, `activating`, `failed`, `inactive`, …; empty without systemd. */
function stateOf(start: Systemd, { instance, env }: Pick<Target, 'instance' | 'env'>): string {
  const args = [...manager(start), 'is-active', '--', unitOf(start.unit, instance.name)];
  return spawnSync('systemctl', args, { env, encoding: 'utf8' }).stdout?.trim() ?? '';
}

function journal(start: Systemd, { instance, env, redact }: Target): string {
  const unit = unitOf(start.unit, instance.name);
  const args = [
    ...manager(start),
    '--unit',
    unit,
    '--lines',
    JOURNAL_LINES,
    '--no-pager',
    '--output',
    'cat',
  ];
  return redact(spawnSync('journalctl', args, { env, encoding: 'utf8' }).stdout ?? '');
}

async function control(
  target: Target,
  start: Systemd,
  verb: string,
  timeout: number,
): Promise<void> {
  const unit = unitOf(start.unit, target.instance.name);
  const args = [...manager(start), verb, '--', unit];
  const title = ['systemctl', ...manager(start), verb, unit].join(' ');
  const { release: cwd, env, log, signal } = target;
  await runStep(log, signal, { stage: 'start', title, file: 'systemctl', args, cwd, env, timeout });
}

export const systemdDriver: Driver = {
  async start(target) {
    const { start } = target;
    if (start.type !== 'systemd') return { death: () => undefined };
    await control(target, start, start.reload ? 'reload-or-restart' : 'restart', start.timeout);
    const death = () => {
      const state = stateOf(start, target);
      if (state === 'active' || state === 'activating' || state === 'reloading') return undefined;
      const words = `the unit ${unitOf(start.unit, target.instance.name)} is ${state || 'unknown'}`;
      return { words, output: journal(start, target) };
    };
    await new Promise((resolve) => setTimeout(resolve, SETTLE));
    const early = death();
    if (early) throw new StepFailure('start', `start: ${early.words}`, early.output);
    return { death };
  },
  async stop(target) {
    if (target.start.type === 'systemd') await control(target, target.start, 'stop', STOP_TIMEOUT);
  },
  status(target) {
    if (target.start.type !== 'systemd') return 'unknown';
    const state = stateOf(target.start, target);
    return state === '' ? 'unknown' : state === 'active' ? 'running' : 'stopped';
  },
};
