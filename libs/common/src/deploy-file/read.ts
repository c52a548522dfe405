/** Reads `.deploy.yml` of a commit: how an app is deployed. */

import { limitsIn } from '../config/build-limits.ts';
import { networkIn } from '../config/network.ts';
import { packageAgeIn } from '../config/package-age.ts';
import { readYaml } from '../yaml/read.ts';
import { check, type FileName, problem, section, type Tree } from '../yaml/schema.ts';
import { healthOf } from './health.ts';
import type { Instance } from './instance.ts';
import { jobsOf } from './jobs.ts';
import { migrationOf } from './migrate.ts';
import { previewOf } from './preview.ts';
import { DEPLOY_SCHEMA, HOOKS } from './schema.ts';
import { startOf } from './start.ts';
import { checkTraffic, withTraffic } from './traffic.ts';
import { type Fail, listOf, milliseconds } from './values.ts';
import { canaryOf, watchOf } from './watch.ts';

/** The file's name in the repository. */
export const DEPLOY_FILE = '.deploy.yml';

export type Hook = (typeof HOOKS)[number];

/**
 * Which channels are notified, as `runner notify send --channel` takes it: `all` for `notify: {}`,
 * `none` without the section, `both`, or names of channels, separated by commas.
 */
export type NotifyChoice = 'all' | 'none' | 'both' | (string & {});

/** `.deploy.yml` with all defaults filled in. Times in ms. */
export type DeployFile = ReturnType<typeof readDeployFile>;

/** Limit of the file, in bytes: larger than any that is written by hand. */
export const DEPLOY_FILE_MAX = 65_536;

/**
 * Reads `.deploy.yml`, or the defaults without one. Throws `deploy_file_invalid` with line and key, and
 * with `name`, what the file is called. `isKept`: of a release, which may be older than a rule.
 */
export function readDeployFile(bytes: Uint8Array | undefined, name = DEPLOY_FILE, isKept = false) {
  const file: FileName = { name, code: 'deploy_file_invalid' };
  const tree = bytes && readYaml(bytes, file);
  const values = tree
    ? (check(tree, DEPLOY_SCHEMA, file) as Map<string, unknown>)
    : new Map<string, unknown>();
  const fail = (key: string, what: string) => problem(file, lineOf(tree, key, 1), key, what);
  const build = values.get('build');
  const buildMap = build instanceof Map ? build : new Map<string, unknown>([['run', build]]);
  const start = startOf(section(values, 'start'), fail);
  const hooks = section(values, 'hooks');
  const notify = section(values, 'notify');
  for (const key of ['stop', 'logs'])
    if (values.has(key) && start.type !== 'command')
      throw fail(key, 'only works with start.type command');
  const instances = instancesOf(section(values, 'instances'), values.get('traffic'), fail);
  checkTraffic(instances, start, values.has('health'), fail);
  const shared = listOf(values.get('shared')).map((path) => sharedPath(path, fail));
  const watch = watchOf(values.get('watch'), fail);
  if (!isKept) refuseIdle(values, fail);
  const canary = canaryOf(values.get('canary'), fail);
  if (canary.length > 0) {
    if (!values.has('watch')) throw fail('canary', 'needs the section watch, which judges it');
    if (!instances.some(({ traffic: own }) => own?.type === 'socket' && (own.overlap || isKept)))
      throw fail('canary', 'needs traffic of type socket, without overlap: false');
  }
  if (values.has('watch') && start.type === 'none')
    throw fail('watch', 'needs a start.type that starts the app');
  if (shared.length > 0 && instances.length > 1) {
    throw fail('shared', 'only works with a single instance: all instances use the same release');
  }
  return {
    /** In the file's order. */
    instances,
    build: {
      run: listOf(buildMap.get('run')),
      timeout: milliseconds(buildMap.get('timeout'), 1_800_000),
      /** Names of the secrets that it gets. */
      env: listOf(buildMap.get('env')),
      limits: limitsIn(buildMap),
    },
    /** How old new packages must be before `fetch --deploy` deploys them; 0: any age. */
    minPackageAge: packageAgeIn(values.get('min_package_age')),
    start,
    stop: values.get('stop') as string | undefined,
    /** Prints what the app has printed; only for type `command`. */
    logs: values.get('logs') as string | undefined,
    health: healthOf(section(values, 'health'), instances, fail),
    /** undefined: a release is not watched once it is live. */
    watch,
    /** Shares of the requests that a release gets first, in percent, ascending. */
    canary,
    /** undefined: a release does not change a database. */
    migrate: migrationOf(values.get('migrate')),
    jobs: jobsOf(section(values, 'jobs'), instances, fail),
    /** Number of good releases to keep. */
    keep: (values.get('keep') ?? 5) as number,
    /** Paths inside a release that are linked to the instance's shared folder. */
    shared,
    hooks: Object.fromEntries(HOOKS.map((hook) => [hook, listOf(hooks?.get(hook))])) as Readonly<
      Record<Hook, readonly string[]>
    >,
    /** Time limit of each command of a hook. */
    hookTimeout: milliseconds(hooks?.get('timeout'), 60_000),
    /** Which hosts hooks may reach that are not part of the build. */
    hookNetwork: networkIn(hooks?.get('network')),
    notify: notify ? notifyOf(notify.get('channel')) : 'none',
    preview: previewOf(section(values, 'preview')),
  };
}

/** Throws for a rule of `watch` without effect, which one would believe to be checked, and an address that ends it. */
function refuseIdle(values: Map<string, unknown>, fail: Fail): void {
  const watch = section(values, 'watch');
  const isLogged = watch?.has('access_log');
  if (watch?.has('latency') && !isLogged) throw fail('watch.latency', 'needs access_log');
  if (watch?.has('errors') && !isLogged && !watch.has('haproxy'))
    throw fail('watch.errors', 'needs access_log or haproxy');
  const query = watch && section(watch, 'query');
  if (query && !URL.canParse(query.get('url') as string))
    throw fail('watch.query.url', 'is not an address');
}

/** The line of a key such as `jobs.nightly.cron`, or of the section that should have it. */
function lineOf(tree: Tree | undefined, key: string, before: number): number {
  if (tree?.kind !== 'map') return before;
  const entry = tree.entries.find((each) => key === each.key || key.startsWith(`${each.key}.`));
  return entry ? lineOf(entry.value, key.slice(entry.key.length + 1), entry.line) : before;
}

function notifyOf(channel: unknown): NotifyChoice {
  const names = [channel ?? 'all'].flat() as string[];
  return names.join(',') || 'none';
}

function instancesOf(
  given: Map<string, unknown> | undefined,
  traffic: unknown,
  fail: Fail,
): Instance[] {
  const sections = given && given.size > 0 ? given : new Map([['default', new Map()]]);
  const all = [...sections].map(([name, section_]) => {
    // The state has the instances by name: that of every object would be taken for one.
    if (name in {}) throw fail(`instances.${name}`, 'is not a valid name');
    const values = section_ as Map<string, unknown>;
    const domain = values.get('domain') as string | undefined;
    const env = Object.fromEntries((section(values, 'env') ?? []) as Iterable<[string, string]>);
    return { instance: { name, domain, env }, values };
  });
  return withTraffic(all, traffic, fail);
}

function sharedPath(text: string, fail: Fail): { path: string; folder: boolean } {
  const folder = text.endsWith('/');
  const path = text.replace(/\/+$/, '');
  const parts = path.split('/');
  if (
    path.startsWith('/') ||
    parts.some((part) => part === '' || part === '.' || part === '..' || part === '.git')
  ) {
    throw fail('shared', 'has a path that leads out of the release');
  }
  return { path, folder };
}
