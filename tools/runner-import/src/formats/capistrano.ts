/** Capistrano: the same layout of releases and shared paths; its tasks are code, and are listed. */
import type { SourceEntry } from '../plan/entry.ts';
import { left, type Plan, to } from '../plan/plan.ts';
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
import { rubyEntries } from '../read/ruby.ts';

const OWN = stays('not needed: runner has an output and a log of its own');
const RUBY = none(
  'make this Ruby the one on the PATH of the user runner, or add it to instances.default.env.PATH',
);
const TASK = none('is code: write what it runs into build.run or hooks');

const variable =
  (name: string, make: (value: unknown) => unknown = String): ImportRule =>
  (entry, plan) =>
    entry.value === null && !entry.computed
      ? left('has no value')
      : plan.env(entry, name, String(make(entry.value)));
/** Capistrano writes a symbol in capitals, and lets the shell expand the value. */
const defaultEnv: ImportRule = (entry, plan) =>
  /\$[\w{]/.test(String(entry.value))
    ? left('needs a shell to expand it: write the whole value into instances.default.env')
    : plan.env(entry, (entry.path.at(-1) as string).toUpperCase());
const folder: ImportRule = (entry, plan) =>
  /(?:^|\/)node_modules\/?$/.test(String(entry.value))
    ? left('is made by the build of each release, and npm ci replaces it')
    : plan.append('shared', entry, `${String(entry.value).replace(/\/+$/, '')}/`);
const sharedPath =
  (rule: ImportRule): ImportRule =>
  (entry, plan) =>
    typeof entry.value === 'string' && !entry.computed
      ? rule(entry, plan)
      : left('is computed, or empty: list the paths in shared');
/** A setting of a plugin whose task runs in each deploy. */
const step =
  (key: string, command: string): ImportRule =>
  (_, plan) => {
    plan.derive(key, command, 'as the plugin of Capistrano does');
    return to(key);
  };

const server: ImportRule = (entry, plan) => {
  const isOther = [...plan.fates.keys()].some(({ path: [word = ''] }) =>
    /^(?:server|role)$/.test(word),
  );
  return (isOther ? ONE_SERVER : HERE)(entry, plan);
};

const under = (name: string) => `set.${name} set.${name}.**`;

export const capistrano: SourceFormat = {
  read: (text, file) => rubyEntries(text, file),
  nameOf: (entries) => entries.find(({ key }) => key === 'set.application')?.value,
  table: [
    ['set.application', (_, { app }) => to(`runner add … --name ${app}`)],
    ['set.repo_url set.branch set.repository', added],
    [
      'set.linked_files set.linked_files.[]',
      sharedPath((entry, plan) => plan.append('shared', entry)),
    ],
    ['set.linked_dirs set.linked_dirs.[]', sharedPath(folder)],
    ['set.keep_releases', setting('keep')],
    ['set.deploy_to', (_, { home }) => to(home)],
    ['set.default_env.*', defaultEnv],
    ['set.rails_env', variable('RAILS_ENV')],
    ['set.node_env', variable('NODE_ENV')],
    ['set.rbenv_ruby', variable('RBENV_VERSION')],
    ['set.bundle_without', variable('BUNDLE_WITHOUT')],
    [
      'set.bundle_without.[]',
      (entry, plan) => plan.env(entry, 'BUNDLE_WITHOUT', joinedBefore(entry, plan)),
    ],
    ['set.bundle_jobs', variable('BUNDLE_JOBS')],
    ['set.bundle_path', variable('BUNDLE_PATH')],
    [
      'set.bundle_flags set.bundle_roles set.bundle_binstubs set.bundle_servers set.bundle_env_variables.** set.bundle_bins.[] set.bundle_check_before_install',
      step('build.run', 'bundle install'),
    ],
    [under('npm_flags'), step('build.run', 'npm ci')],
    [under('yarn_flags'), step('build.run', 'yarn install --frozen-lockfile')],
    [under('composer_install_flags'), step('build.run', 'composer install --no-dev')],
    [
      'set.migration_role set.migration_servers set.conditionally_migrate set.migration_command',
      step('hooks.pre_switch', 'bundle exec rake db:migrate'),
    ],
    [
      `${under('assets_roles')} set.assets_prefix set.keep_assets ${under('assets_manifests')}`,
      step('hooks.post_build', 'bundle exec rake assets:precompile'),
    ],
    [
      `set.passenger_restart_with_touch ${under('passenger_roles')} set.passenger_restart_wait set.passenger_restart_limit`,
      step('hooks.post_deploy', 'mkdir -p tmp && touch tmp/restart.txt'),
    ],
    [
      'set.puma_service_unit_name set.puma_systemctl_unit set.unicorn_service set.sidekiq_service_unit_name',
      (entry, plan) => unitOf(entry, plan),
    ],
    [
      'set.scm set.deploy_via set.git_strategy set.git_shallow_clone set.git_enable_submodules set.git_http_username set.git_wrapper_path set.repo_tree',
      HERE,
    ],
    [
      `set.user set.use_sudo set.pty set.tmp_dir set.local_user set.stage set.stages.[] set.default_stage set.sshkit_backend ${under('ssh_options')} ${under('default_run_options')} set.deploy_user set.server_name set.runner`,
      HERE,
    ],
    [`set.format ${under('format_options')} set.log_level set.airbrussh`, OWN],
    [
      `${under('rbenv_map_bins')} ${under('rbenv_roles')} set.rbenv_type set.rbenv_path set.rbenv_prefix set.rbenv_custom_path set.rvm_type set.rvm_ruby_version set.rvm_custom_path set.rvm_map_bins set.chruby_ruby set.chruby_exec set.nvm_type set.nvm_node set.nvm_custom_path ${under('nvm_map_bins')} ${under('chruby_map_bins')}`,
      RUBY,
    ],
    ['lock', stays('not needed: there is no Capistrano any more')],
    ['server role', server],
    ['require require_relative load import install_plugin', none('loads code that is not run')],
    ['namespace.* desc desc.*', stays('nothing: it only names tasks')],
    [
      'set.**',
      (entry) =>
        /^(?:puma|unicorn|sidekiq|nginx|monit|delayed_job|resque|thin)_/.test(
          entry.path[1] as string,
        )
          ? left('is in the unit that starts the app, or in your proxy')
          : left(entry.computed ? 'is computed when the file runs' : capistrano.unknown),
    ],
    ['**', TASK],
  ],
  finish(plan, entries) {
    // Ruby takes the last.
    const last = (key: string) => entries.findLast((each) => each.key === key);
    const repo = last('set.repo_url') ?? last('set.repository');
    if (repo || last('set.application')) plan.add(repo, last('set.branch'));
    const stage = last('set.stage')?.value;
    if (entries.some(isOfRails))
      plan.derive(
        'instances.default.env.RAILS_ENV',
        typeof stage === 'string' ? stage : 'production',
        'capistrano/rails sets it to the stage',
      );
  },
  unknown: 'has no setting in runner',
};

/** A file that only Rails has, or a setting of its plugin. */
const isOfRails = ({ path: [, name = ''], value }: SourceEntry) =>
  /^config\/(?:database\.yml|master\.key|secrets\.yml|credentials\b)/.test(String(value)) ||
  /^(?:rails_env|migration_|assets_)/.test(name);

/** `puma_production` of `puma_production.service`. */
function unitOf(entry: SourceEntry, plan: Plan) {
  if (plan.has('start.unit'))
    return left('runner starts one unit for an app: register the other as an app of its own');
  const name =
    typeof entry.value === 'string' ? entry.value.replace(/(?:\.service)?$/, '.service') : null;
  const fate = plan.set('start.unit', entry, name);
  if ('to' in fate) plan.derive('start.type', 'systemd', 'systemd keeps running it');
  return fate;
}

/** The items so far with the new one, as Bundler reads a list. */
function joinedBefore(entry: SourceEntry, plan: Plan): string {
  const before = plan.settings.get('instances.default.env.BUNDLE_WITHOUT')?.value;
  return [before ?? [], String(entry.value)].flat().join(':');
}
