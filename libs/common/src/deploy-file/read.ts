/** Reads `.deploy.yml` of a commit: how an app is deployed. */

import { type BuildLimits, limitsIn } from '../config/build-limits.ts';
import { harmlessLine } from '../text/harmless.ts';
import { durationOf } from '../text/time.ts';
import { readYaml } from '../yaml/read.ts';
import { check, type FileName, problem, section } from '../yaml/schema.ts';
import { DEPLOY_SCHEMA, HEALTH_KINDS, HOOKS, START_KEYS } from './schema.ts';
import { checkTraffic, type Traffic, withTraffic } from './traffic.ts';
import { expand, unsetIn } from './variables.ts';

/** The file's name in the repository. */
export const DEPLOY_FILE = '.deploy.yml';

/** One place in which an app runs, with its environment. */
export interface Instance {
  readonly name: string;
  readonly domain: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Absent: one version is stopped before the next one is started. */
  readonly traffic?: Traffic;
}

/** Time limits of starting and stopping, in ms. */
interface StartLimits {
  readonly timeout: number;
  readonly stopTimeout: number;
}

/** How an instance is started. */
export type Start =
  | ({ readonly type: 'process' | 'command'; readonly run: string } & StartLimits)
  | ({
      readonly type: 'systemd';
      /** `%i`, or the place before the dot of a template `app@.service`, becomes the instance's name. */
      readonly unit: string;
      /** The user's systemd instead of the system's. */
      readonly user: boolean;
      /** `reload-or-restart` instead of `restart`. */
      readonly reload: boolean;
    } & StartLimits)
  | ({ readonly type: 'compose'; readonly file: string } & StartLimits)
  | ({ readonly type: 'pm2'; readonly config: string } & StartLimits)
  | ({ readonly type: 'pm2'; readonly run: string } & StartLimits)
  | { readonly type: 'none' };

/** Default of `start.stop_timeout`, in ms. */
export const STOP_TIMEOUTS = {
  process: 10_000,
  command: 60_000,
  pm2: 60_000,
  systemd: 90_000,
  compose: 90_000,
} as const;

/** When an instance counts as healthy. All times in ms. */
export interface Health {
  readonly kind: 'url' | 'cmd' | 'tcp';
  /** Address, command or host:port; `${NAME}` is a variable of the instance. */
  readonly target: string;
  /** Lowest and highest healthy HTTP status. */
  readonly expect: readonly [low: number, high: number];
  readonly interval: number;
  readonly timeout: number;
  readonly within: number;
}

/** Name of a hook. */
export type Hook = (typeof HOOKS)[number];

/**
 * Which channels are notified, as `runner notify send --channel` takes it: `all` for `notify: {}`,
 * `none` without the section, `both`, or names of channels, separated by commas.
 */
export type NotifyChoice = 'all' | 'none' | 'both' | (string & {});

/** `.deploy.yml` with all defaults filled in. */
export interface DeployFile {
  /** In the file's order. */
  readonly instances: readonly Instance[];
  readonly build: {
    readonly run: readonly string[];
    readonly timeout: number;
    /** Names of the secrets that it gets. */
    readonly env: readonly string[];
    readonly limits: BuildLimits;
  };
  readonly start: Start;
  readonly stop: string | undefined;
  /** Prints what the app has printed; only for type `command`. */
  readonly logs: string | undefined;
  readonly health: Health | undefined;
  /** Number of good releases to keep. */
  readonly keep: number;
  /** Paths inside a release that are linked to the instance's shared folder. */
  readonly shared: readonly { readonly path: string; readonly folder: boolean }[];
  readonly hooks: Readonly<Record<Hook, readonly string[]>>;
  /** Time limit of each command of a hook, in ms. */
  readonly hookTimeout: number;
  readonly notify: NotifyChoice;
}

/** The longest timer of Node, 24.8 days; a longer one would fire at once. */
const TIMER_MAX = 2_147_483_647;

/** A duration in milliseconds. */
function milliseconds(text: unknown, fallback: number): number {
  return Math.min(TIMER_MAX, (typeof text === 'string' && durationOf(text)) || fallback);
}

function list(value: unknown): readonly string[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as string[]) : [value as string];
}

/** Reads `.deploy.yml`, or the defaults without one. Throws `deploy_file_invalid` with line and key. */
export function readDeployFile(bytes: Uint8Array | undefined): DeployFile {
  const file: FileName = { name: DEPLOY_FILE, code: 'deploy_file_invalid' };
  const tree = bytes && readYaml(bytes, file);
  const values = tree
    ? (check(tree, DEPLOY_SCHEMA, file) as Map<string, unknown>)
    : new Map<string, unknown>();
  const keyLine = (key: string) =>
    (tree?.kind === 'map' && tree.entries.find((entry) => entry.key === key)?.line) || 1;
  const fail = (key: string, what: string) =>
    problem(file, keyLine(key.split('.')[0] as string), key, what);
  const build = values.get('build');
  const buildMap = build instanceof Map ? build : new Map<string, unknown>([['run', build]]);
  const start = startOf(section(values, 'start'), fail);
  const hooks = section(values, 'hooks');
  const notify = section(values, 'notify');
  for (const key of ['stop', 'logs'])
    if (values.has(key) && start.type !== 'command')
      throw fail(key, 'goes with start.type command alone');
  const instances = instancesOf(section(values, 'instances'), values.get('traffic'), fail);
  checkTraffic(instances, start, values.has('health'), fail);
  const shared = list(values.get('shared')).map((path) => sharedPath(path, fail));
  if (shared.length > 0 && instances.length > 1) {
    throw fail('shared', 'goes with a single instance: a release is built once for all of them');
  }
  return {
    instances,
    build: {
      run: list(buildMap.get('run')),
      timeout: milliseconds(buildMap.get('timeout'), 1_800_000),
      env: list(buildMap.get('env')),
      limits: limitsIn(buildMap),
    },
    start,
    stop: values.get('stop') as string | undefined,
    logs: values.get('logs') as string | undefined,
    health: healthOf(section(values, 'health'), instances, fail),
    keep: (values.get('keep') ?? 5) as number,
    shared,
    hooks: Object.fromEntries(
      HOOKS.map((hook) => [hook, list(hooks?.get(hook))]),
    ) as DeployFile['hooks'],
    hookTimeout: milliseconds(hooks?.get('timeout'), 60_000),
    notify: notify ? notifyOf(notify.get('channel')) : 'none',
  };
}

type Fail = (key: string, what: string) => Error;

function notifyOf(channel: unknown): NotifyChoice {
  const names = [channel ?? []].flat() as string[];
  return names.join(',') || 'all';
}

function instancesOf(
  given: Map<string, unknown> | undefined,
  traffic: unknown,
  fail: Fail,
): Instance[] {
  const sections = given && given.size > 0 ? given : new Map([['default', new Map()]]);
  const all = [...sections].map(([name, section_]) => {
    const values = section_ as Map<string, unknown>;
    const domain = values.get('domain') as string | undefined;
    const env = Object.fromEntries((section(values, 'env') ?? []) as Iterable<[string, string]>);
    return { instance: { name, domain, env }, values };
  });
  return withTraffic(all, traffic, milliseconds, fail);
}

function startOf(start: Map<string, unknown> | undefined, fail: Fail): Start {
  const type = (start?.get('type') ?? 'none') as Start['type'];
  const { needs, may }: { needs: readonly string[]; may: readonly string[] } = START_KEYS[type];
  const common = ['type', 'timeout', 'stop_timeout'];
  const given = [...(start?.keys() ?? [])].filter((key) => !common.includes(key));
  const foreign = given.find((key) => !needs.includes(key) && !may.includes(key));
  if (foreign) throw fail(`start.${foreign}`, `does not go with type ${type}`);
  const needed = given.filter((key) => needs.includes(key));
  if (needs.length > 0 && needed.length === 0)
    throw fail('start', `type ${type} needs the key ${needs.join(' or ')}`);
  if (needed.length > 1) throw fail('start', `type ${type} takes one of ${needs.join(', ')}`);
  const text = (key: string) => start?.get(key) as string;
  if (type === 'none') return { type };
  const limits = {
    timeout: milliseconds(start?.get('timeout'), 60_000),
    stopTimeout: milliseconds(start?.get('stop_timeout'), STOP_TIMEOUTS[type]),
  };
  if (type === 'systemd') {
    const [user, reload] = ['user', 'reload'].map((key) => start?.get(key) === true) as [
      boolean,
      boolean,
    ];
    return { type, unit: text('unit'), user, reload, ...limits };
  }
  if (type === 'compose')
    return { type, file: (start?.get('file') as string | undefined) ?? 'compose.yaml', ...limits };
  if (type !== 'pm2') return { type, run: text('run'), ...limits };
  if (needed[0] === 'config') return { type, config: text('config'), ...limits };
  return { type, run: text('run'), ...limits };
}

function healthOf(
  health: Map<string, unknown> | undefined,
  instances: readonly Instance[],
  fail: Fail,
): Health | undefined {
  if (!health) return undefined;
  const kinds = HEALTH_KINDS.filter((kind) => health.has(kind));
  const [kind] = kinds;
  if (kind === undefined) throw fail('health', 'needs one of url, cmd, tcp');
  if (kinds.length > 1)
    throw fail('health', `takes only one of url, cmd, tcp, not ${kinds.join(' and ')}`);
  const target = health.get(kind) as string;
  if (kind !== 'cmd') checkAddress(kind, target, instances, fail);
  const [low = '200', high] = String(health.get('expect') ?? '200-299').split('-');
  if (high !== undefined && Number(high) < Number(low))
    throw fail('health.expect', 'ends before it begins');
  return {
    kind,
    target,
    expect: [Number(low), Number(high ?? low)],
    interval: milliseconds(health.get('interval'), 1_000),
    timeout: milliseconds(health.get('timeout'), 5_000),
    within: milliseconds(health.get('within'), 30_000),
  };
}

function checkAddress(
  kind: 'url' | 'tcp',
  target: string,
  instances: readonly Instance[],
  fail: Fail,
): void {
  for (const { name, env: own, traffic } of instances) {
    const env = traffic ? { ...own, PORT: String(traffic.ports?.[0] ?? 80) } : own;
    const unset = unsetIn(target, env);
    if (unset !== undefined)
      throw fail(`health.${kind}`, `uses ${unset}, which the env of ${name} does not set`);
    const address = expand(target, env);
    if (kind === 'tcp' && !hasPort(address))
      throw fail('health.tcp', 'must end with a port from 1 to 65535');
    if (kind === 'url' && !URL.canParse(address))
      throw fail('health.url', `${harmlessLine(address)} is not an address`);
  }
}

function hasPort(address: string): boolean {
  const port = address.slice(address.lastIndexOf(':') + 1);
  return /^[0-9]{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
}

function sharedPath(text: string, fail: Fail): { path: string; folder: boolean } {
  const folder = text.endsWith('/');
  const path = text.replace(/\/+$/, '');
  const parts = path.split('/');
  if (
    path.startsWith('/') ||
    parts.some((part) => part === '' || part === '.' || part === '..' || part === '.git')
  ) {
    throw fail('shared', 'holds a path that leads out of the release');
  }
  return { path, folder };
}
