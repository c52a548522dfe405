/** config/deploy.rb, with the styles of ten years. */
import { type Form, formOf, many, type Part, picked, SECRET } from './form.ts';

const REPO: readonly Part[] = [
  [
    "set :application, 'shop'\nset :repo_url, 'git@github.com:acme/shop.git'",
    { 'set.application': 'runner add', 'set.repo_url': 'runner add' },
  ],
  [
    'set :application, "shop"\nset :repo_url, "https://github.com/acme/#{fetch(:application)}.git"',
    { 'set.application': 'runner add', 'set.repo_url': 'runner add' },
  ],
  [
    'set(:application, "shop")\nset(:repo_url, "git@gitlab.com:acme/shop.git")',
    { 'set.application': 'runner add', 'set.repo_url': 'runner add' },
  ],
];

const LINKED: readonly Part[] = [
  ["append :linked_files, 'config/master.key'", { 'set.linked_files': 'shared' }],
  [
    "append :linked_files, 'config/database.yml', 'config/master.key'",
    { 'set.linked_files[0]': 'shared', 'set.linked_files[1]': 'shared' },
  ],
  [
    'set :linked_files, %w{config/database.yml .env}',
    { 'set.linked_files[0]': 'shared', 'set.linked_files[1]': 'shared' },
  ],
  [
    "set :linked_files, fetch(:linked_files, []).push('config/database.yml', 'config/secrets.yml')",
    { 'set.linked_files[0]': 'shared', 'set.linked_files[1]': 'shared' },
  ],
];

const FOLDERS: readonly Part[] = [
  [
    'append :linked_dirs, "log", "tmp/pids", # pids\n  "public/uploads"',
    {
      'set.linked_dirs[0]': 'shared',
      'set.linked_dirs[1]': 'shared',
      'set.linked_dirs[2]': 'shared',
    },
  ],
  [
    'set :linked_dirs, fetch(:linked_dirs, []) + %w[log vendor/bundle storage]',
    {
      'set.linked_dirs[0]': 'shared',
      'set.linked_dirs[1]': 'shared',
      'set.linked_dirs[2]': 'shared',
    },
  ],
  [
    'set :linked_dirs, %w(\n  log\n  tmp/cache\n  public/system\n)',
    {
      'set.linked_dirs[0]': 'shared',
      'set.linked_dirs[1]': 'shared',
      'set.linked_dirs[2]': 'shared',
    },
  ],
];

const SSH = 'not needed';

const PARTS: readonly Part[] = [
  [
    '# config valid for current version and patch releases of Capistrano\nlock "~> 3.18.0"',
    { lock: SSH },
  ],
  ["set :branch, ENV.fetch('BRANCH', 'main')", { 'set.branch': 'runner add' }],
  [
    'set :deploy_to, "/var/www/#{fetch :application}"',
    { 'set.deploy_to': '/opt/runner/apps/shop' },
  ],
  ['set :keep_releases, 3', { 'set.keep_releases': 'keep' }],
  ["set :rails_env, 'production'", { 'set.rails_env': 'instances.default.env.RAILS_ENV' }],
  [
    `set :default_env, { 'NODE_OPTIONS' => '--max-old-space-size=512', secret_key_base: '${SECRET}' }`,
    {
      'set.default_env.NODE_OPTIONS': 'instances.default.env.NODE_OPTIONS',
      'set.default_env.secret_key_base': 'runner env set shop SECRET_KEY_BASE',
    },
  ],
  [
    'set :format, :airbrussh\nset :log_level, :info\nset :pty, true',
    { 'set.format': SSH, 'set.log_level': SSH, 'set.pty': SSH },
  ],
  [
    'set :ssh_options, { forward_agent: true, user: "deploy" }',
    { 'set.ssh_options.forward_agent': SSH, 'set.ssh_options.user': SSH },
  ],
  ['set :conditionally_migrate, true', { 'set.conditionally_migrate': 'hooks.pre_switch' }],
  ['set :assets_roles, [:web]', { 'set.assets_roles[0]': 'hooks.post_build' }],
  ["set :bundle_without, %w{development test}.join(':')", { 'set.bundle_without': '-' }],
  [
    "set :bundle_without, 'development:test'",
    { 'set.bundle_without': 'instances.default.env.BUNDLE_WITHOUT' },
  ],
  ['set :rbenv_ruby, "3.3.0"', { 'set.rbenv_ruby': 'instances.default.env.RBENV_VERSION' }],
  ['set :puma_service_unit_name, "puma_shop"', { 'set.puma_service_unit_name': 'start.unit' }],
  ["server '192.0.2.1', user: 'deploy', roles: %w{app db web}", { server: SSH }],
  ['set :scm, :git', { 'set.scm': SSH }],
  [
    'set :passenger_restart_with_touch, true',
    { 'set.passenger_restart_with_touch': 'hooks.post_deploy' },
  ],
  [
    "namespace :deploy do\n  desc 'Restart application'\n  task :restart do\n    on roles(:app), in: :sequence, wait: 5 do\n      # execute :touch, release_path.join('tmp/restart.txt')\n    end\n  end\nend",
    { 'namespace.deploy': 'nothing', 'desc.Restart': 'nothing', 'task.restart': '-' },
  ],
];

const CLASHES = 'set :bundle_without, %w';

export const CAPISTRANO: readonly Form[] = many(30, (number) =>
  formOf('capistrano', number % 4 === 3 ? 'config/deploy/production.rb' : 'config/deploy.rb', [
    REPO[number % 3] as Part,
    ...picked(PARTS, number, 2).filter(
      ([text], _, all) =>
        !text.startsWith(CLASHES) ||
        !all.some(([other]) => other.startsWith("set :bundle_without, '")),
    ),
    LINKED[number % 3] as Part,
    FOLDERS[(number + 1) % 3] as Part,
  ]),
);
