/** The operations on a server with three apps: made at random from a seed, each step one line of text. */
import { randomOf } from '@runner/testing/random';
import type { Step } from './steps.ts';

/** `sock` has traffic on a socket, `proc` a port; `cmd` is started by a command of its own. */
export const APPS = ['sock', 'proc', 'cmd'] as const;
export type App = (typeof APPS)[number];

/** How a pushed version ends: one with a `hook` fails before the switch. */
const PUSHED = ['good', 'good', 'good', 'good', 'build', 'unhealthy', 'crashing', 'hook'];

/** The commands of one app, by the word that stands for each in a step. */
export const COMMANDS: Readonly<Record<string, (app: App, version?: string) => readonly string[]>> =
  {
    deploy: (app) => ['deploy', app],
    ref: (app, version) => ['deploy', app, '--ref', version ?? 'main'],
    check: (app) => ['deploy', app, '--check'],
    fetch: (app) => ['fetch', '--deploy', app],
    look: (app) => ['fetch', app],
    all: () => ['fetch', '--deploy'],
    rollback: (app) => ['rollback', app],
    to: (app, version) => ['rollback', app, '--to', version ?? 'v1'],
    stop: (app) => ['stop', app],
    reason: (app) => ['stop', app, '--reason', 'moving the database'],
    start: (app) => ['start', app],
    boot: () => ['start', '--boot'],
    restart: (app) => ['restart', app],
    env: (app) => ['env', 'set', app, 'DATABASE', '--file', '-'],
    envr: (app) => ['env', 'set', app, 'DATABASE', '--file', '-', '--restart'],
    unset: (app) => ['env', 'unset', app, 'DATABASE'],
    pause: (app) => ['pause', app],
    resume: (app) => ['resume', app],
    prune: () => ['prune'],
    edit: (app) => ['edit', app, '--branch', 'main'],
    doctor: () => ['doctor'],
    backup: () => ['backup', '--to', '/dev/null', '--passphrase-file', '-'],
  };

/** What takes long enough to be interrupted, or met by another command. */
const LONG = ['deploy', 'fetch', 'rollback', 'to', 'stop', 'start', 'restart', 'envr'];
/** What happens to a command after a part of its usual time: `with` another one begins. */
const MEETINGS = ['kill', 'term', 'int', 'cancel', 'with'];
const OFTEN = ['push', 'push', 'push', 'deploy', 'deploy', 'fetch', 'fetch', 'rollback', 'stop'];
const KINDS = [...OFTEN, ...Object.keys(COMMANDS), ...MEETINGS, ...MEETINGS, 'crash', 'clock'];
const HOUR = 3_600;

/** Makes `count` steps; the first ones deploy each app twice, so that there is something to leave. */
export function makeOperations(seed: number, count: number): Step[] {
  const random = randomOf(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const steps: Step[] = APPS.flatMap((app) => [
    [app, 'push', 'good'],
    [app, 'deploy'],
    [app, 'push', pick(PUSHED)],
    [app, pick(['deploy', 'fetch'])],
  ]);
  const words = (kind: string): string[] =>
    ['ref', 'to'].includes(kind) ? [kind, `v${1 + Math.floor(random() * 4)}`] : [kind];
  const make = (app: App, kind: string): Step => {
    if (kind === 'push') return [app, 'push', pick(PUSHED)];
    if (kind === 'clock') return [app, 'clock', String(Math.round((random() - 0.5) * 4 * HOUR))];
    if (!MEETINGS.includes(kind)) return [app, ...words(kind)];
    const met = kind === 'with' ? [pick([...LONG, 'env', 'pause', 'prune', 'all'])] : [];
    return [app, kind, random().toFixed(2), ...met, ...words(pick(LONG))];
  };
  while (steps.length < count) steps.push(make(pick(APPS), pick(KINDS)));
  return steps;
}
