/** pm2: pm2 keeps reading its file, in each release; the section `deploy` becomes settings of runner. */
import type { SourceEntry } from '../plan/entry.ts';
import { left, type Plan, refusalOf, to } from '../plan/plan.ts';
import { isSecret } from '../plan/secret.ts';
import {
  added,
  HERE,
  type ImportRule,
  none,
  ONE_SERVER,
  type SourceFormat,
  setting,
  stays,
} from '../plan/table.ts';
import { javascriptEntries } from '../read/javascript.ts';
import { yamlEntries } from '../read/yaml.ts';
import { inRelease, listening } from './place.ts';
import { deployCommands } from './shell.ts';

const KEPT = stays('start.config');
const OUTSIDE =
  'is a path outside the release: pm2 would keep running the old folder; make it relative';

/** Settings of an app that pm2 goes on applying. */
const APP_KEYS =
  'name namespace args interpreter interpreter_args exec_interpreter node_args exec_mode execMode instances ' +
  'max_memory_restart autorestart autostart restart_delay max_restarts min_uptime stop_exit_codes ' +
  'exp_backoff_restart_delay kill_timeout listen_timeout wait_ready shutdown_with_message treekill ' +
  'out_file error_file output error log log_file out log_date_format log_type time pid_file pid ' +
  'combine_logs merge_logs disable_logs cron_restart cron increment_var instance_var filter_env force ' +
  'source_map_support disable_source_map_support vizion vizion_running post_update append_env_to_name ' +
  'automation pmx trace disable_trace deep_monitoring event_loop_inspector uid gid user ' +
  'node_version port env_file ignore_watch watch_options watch_delay watch_ignore';

const script: ImportRule = ({ value }) =>
  typeof value === 'string' && value.startsWith('/') && !/^\/(?:usr\/)?bin\//.test(value)
    ? left(OUTSIDE)
    : to('start.config');
const folder: ImportRule = ({ value, computed }) =>
  computed || /^(?:\/|~)|^\.\.(?:\/|$)/.test(String(value)) ? left(OUTSIDE) : to('start.config');
const watch: ImportRule = ({ value }) =>
  value === false || value === null
    ? to('start.config')
    : left('restarts the app when files change: a release never changes, so remove it');

const ownVariable: ImportRule = ({ path, value, computed }, plan) => {
  const name = path.at(-1) as string;
  if (computed || !isSecret(name, String(value ?? ''))) return to('start.config');
  return plan.secretInFile(name);
};
/** runner starts pm2 without `--env`. */
const production: ImportRule = (entry, plan) => plan.env(entry, entry.path.at(-1) as string);
const other = none(
  'is for another environment: register it as an app of its own, runner add … --name',
);

const TAKEN = /\bprocess\.env\.([A-Za-z_]\w*)/g;
const ENVIRONMENT = /^env_(.+)$/;
const variable: ImportRule = (entry, plan) => {
  const kind = ENVIRONMENT.exec(entry.path[1] as string)?.[1];
  if (kind === undefined) return left(pm2.unknown);
  return /^prod/i.test(kind) ? production(entry, plan) : other(entry, plan);
};

/** An empty command, as in the template of `pm2 init`, does nothing. */
const given =
  (rule: ImportRule): ImportRule =>
  (entry, plan) =>
    entry.value === '' ? to('nothing: it is empty') : rule(entry, plan);

/** The paths of the table: `app` for every app, `deploy` for the first target, `elsewhere` for others. */
function inTable(entries: readonly SourceEntry[]): SourceEntry[] {
  const target = entries.find(({ path }) => path[0] === 'deploy' && path.length > 2)?.path[1];
  return entries.map((entry) => {
    const [first, second, ...rest] = entry.path;
    if (first === 'code') return entry;
    if (first === 'deploy' && second !== undefined)
      return { ...entry, path: [second === target ? 'deploy' : 'elsewhere', ...rest] };
    const own = first === 'apps' ? entry.path.slice(1) : entry.path;
    return { ...entry, path: ['app', ...(own[0]?.startsWith('[') ? own.slice(1) : own)] };
  });
}

export const pm2: SourceFormat = {
  read(text, file) {
    const isYaml = /\.ya?ml$/i.test(file);
    return inTable(isYaml ? yamlEntries(text, file) : javascriptEntries(text, file));
  },
  nameOf: (entries) => entries.find(({ path }) => path.join('.') === 'app.name')?.value,
  table: [
    ['deploy.repo deploy.ref', added],
    ['deploy.path', (_, { home }) => to(home)],
    [
      'deploy.user deploy.host deploy.key deploy.port deploy.ssh_options deploy.forward-agent',
      HERE,
    ],
    ['deploy.host.[]', ONE_SERVER],
    ['deploy.ssh_options.[]', HERE],
    ['deploy.post-deploy deploy.post-deploy.[]', deployCommands],
    ['deploy.pre-deploy', given(setting('hooks.pre_build'))],
    [
      'deploy.pre-deploy-local',
      given(none('runs on your own machine, and runner on the server: add it to CI')),
    ],
    ['deploy.pre-setup deploy.post-setup', given(none('prepares the server once: run it by hand'))],
    ['deploy.env.*', production],
    ['elsewhere.**', other],
    ['app.script', script],
    ['app.cwd', folder],
    ['app.watch app.watch.**', watch],
    ['app.env.*', ownVariable],
    ['app.args app.args.[]', ({ value }) => refusalOf({ value }) ?? to('start.config')],
    ['app', ({ computed }) => (computed ? to('start.config') : left('is empty'))],
    ['app.env app.env.<code> app.<code> code', KEPT],
    [
      APP_KEYS.split(' ')
        .flatMap((key) => [`app.${key}`, `app.${key}.**`])
        .join(' '),
      KEPT,
    ],
    ['app.*.*', variable],
  ],
  finish(plan, entries, file, text) {
    const first = (path: string) => entries.find((each) => each.path.join('.') === path);
    const repo = first('deploy.repo');
    if (repo) plan.add(repo, first('deploy.ref'));
    const isApp = ({ path, computed }: SourceEntry) =>
      path[0] === 'app' && (path.length > 1 || computed === true);
    if (!entries.some(isApp)) {
      for (const entry of entries)
        if (entry.path[0] === 'code')
          plan.fates.set(entry, left('is code, and no app is exported'));
      return;
    }
    plan.derive('start.type', 'pm2', 'pm2 keeps running it');
    const config = inRelease(file, 'ecosystem.config.js');
    plan.derive('start.config', config, 'pm2 reads it from each release');
    plan.noteSecrets(config, 'a value in the file wins over that of runner');
    plan.takes(
      [...text.matchAll(TAKEN)].map(([, name]) => name as string),
      config,
    );
    for (const entry of entries)
      if (entry.path.join('.').startsWith('app.env.')) overruled(plan, entry);
    const ports = entries
      .filter(({ path }) => path[2] === 'PORT' && /^env(?:_prod.*)?$/.test(path[1] ?? ''))
      .map(({ value }) => value);
    const address = new Set(ports).size === 1 ? listening(ports[0]) : undefined;
    if (address) plan.derive('health.tcp', address, 'PORT; better is a url that answers 200');
  },
  unknown: 'is not a setting of pm2 that runner knows',
};

/** A value in `env` wins over one of `.deploy.yml`, where that of `env_production` would be. */
function overruled(plan: Plan, { path, value }: SourceEntry): void {
  const key = `instances.default.env.${path[2]}`;
  const moved = plan.settings.get(key);
  if (moved === undefined || moved.value === String(value)) return;
  plan.settings.delete(key);
  const fate = left('is also in env, which wins without --env: set the value there');
  for (const entry of moved.from) plan.fates.set(entry, fate);
}
