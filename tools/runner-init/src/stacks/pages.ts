/** Stacks on Ruby and PHP. */
import type { Clue, CommandLine, SharedPath, Stack } from './stack.ts';

const BUNDLER = {
  BUNDLE_DEPLOYMENT: '1',
  BUNDLE_PATH: 'vendor/bundle',
  BUNDLE_WITHOUT: 'development:test',
};
const MASTER_KEY: SharedPath = {
  path: 'config/master.key',
  why: 'decrypts config/credentials.yml.enc',
  when: [{ path: 'config/credentials.yml.enc' }],
};
const PRECOMPILE: CommandLine = {
  run: 'SECRET_KEY_BASE_DUMMY=1 bin/rails assets:precompile',
  when: [{ dep: 'propshaft sprockets-rails sass-rails' }],
};

const inDatabaseYml = (path: string): Clue => ({
  path: 'config/database.yml',
  text: new RegExp(`^[^#\\n]{0,40}\\bdatabase:[ \\t]{0,3}["']?${path}`, 'm'),
});

const RUBY: readonly Stack[] = [
  {
    name: 'Rails',
    language: 'ruby',
    when: [{ dep: 'rails' }, { path: 'config/application.rb' }],
    build: ['{install}', PRECOMPILE],
    start: 'bin/rails server -b 127.0.0.1 -p $PORT',
    health: { run: '/up', when: [{ path: 'config/routes.rb', text: /rails\/health#show/ }] },
    env: { ...BUNDLER, RAILS_ENV: 'production', RAILS_LOG_TO_STDOUT: '1' },
    shared: [
      MASTER_KEY,
      { path: 'storage/', why: 'uploads and SQLite', when: [{ path: 'config/storage.yml' }] },
      { path: 'storage/', why: 'config/database.yml: SQLite', when: [inDatabaseYml('storage/')] },
      {
        path: 'db/production.sqlite3',
        why: 'config/database.yml: SQLite',
        when: [inDatabaseYml('db/production.sqlite3')],
      },
    ],
    migrate: 'bin/rails db:migrate',
  },
  {
    name: 'Jekyll',
    language: 'ruby',
    when: [{ dep: 'jekyll github-pages' }, { path: '_config.yml' }],
    build: ['{install}', 'JEKYLL_ENV=production bundle exec jekyll build'],
    output: '_site',
    env: BUNDLER,
  },
  {
    name: 'Rack',
    language: 'ruby',
    when: [{ path: 'config.ru' }, { dep: 'puma' }],
    build: ['{install}'],
    start: 'bundle exec puma -b tcp://127.0.0.1:$PORT',
    env: { ...BUNDLER, RACK_ENV: 'production' },
  },
  {
    name: 'Rack',
    language: 'ruby',
    when: [{ path: 'config.ru' }, { dep: 'rackup rack webrick thin falcon' }],
    build: ['{install}'],
    start: 'bundle exec rackup -o 127.0.0.1 -p $PORT',
    env: { ...BUNDLER, RACK_ENV: 'production' },
  },
  {
    name: 'Ruby',
    language: 'ruby',
    when: [{ path: 'Gemfile' }],
    missing: 'the Gemfile names neither Rails nor Jekyll, and no config.ru starts a Rack app',
  },
];

const ENV_FILE: SharedPath = { path: '.env', why: 'the settings of this server' };
const VITE: readonly CommandLine[] = [
  { run: 'npm ci', when: [{ path: 'package-lock.json' }] },
  {
    run: 'npm install',
    when: [{ path: 'package.json' }, { path: 'package-lock.json', not: true }],
  },
  { run: 'npm run build', when: [{ script: 'build' }] },
];

const PHP: readonly Stack[] = [
  {
    name: 'Laravel, Octane',
    language: 'php',
    when: [{ dep: 'laravel/octane' }, { path: 'artisan' }],
    build: ['{install}', ...VITE],
    start: 'php artisan octane:start --host=127.0.0.1 --port=$PORT',
    port: 8000,
    health: { run: '/up', when: [{ path: 'bootstrap/app.php', text: /health: ['"]\/up/ }] },
    shared: [ENV_FILE, { path: 'storage/', why: 'uploads, logs and SQLite' }],
    migrate: 'DB_URL="$DATABASE_URL" php artisan migrate --force',
  },
  {
    name: 'Laravel',
    language: 'php',
    when: [{ dep: 'laravel/framework' }, { path: 'artisan' }],
    build: ['{install}', ...VITE],
    output: 'public',
    shared: [ENV_FILE, { path: 'storage/', why: 'uploads and logs' }],
    migrate: 'DB_URL="$DATABASE_URL" php artisan migrate --force',
  },
  {
    name: 'Symfony',
    language: 'php',
    when: [{ dep: 'symfony/framework-bundle' }, { path: 'bin/console' }],
    build: ['{install}', ...VITE],
    output: 'public',
    env: { APP_ENV: 'prod' },
    shared: [{ path: '.env.local', why: 'the settings of this server' }],
    migrate: {
      run: 'php bin/console doctrine:migrations:migrate -n',
      when: [{ dep: 'doctrine/doctrine-migrations-bundle' }],
    },
  },
  {
    name: 'PHP',
    language: 'php',
    when: [{ path: 'public/index.php' }],
    build: [{ run: '{install}', when: [{ path: 'composer.json' }] }],
    output: 'public',
  },
  {
    name: 'PHP',
    language: 'php',
    when: [{ path: 'index.php' }],
    build: [{ run: '{install}', when: [{ path: 'composer.json' }] }],
    output: '.',
  },
  {
    name: 'PHP',
    language: 'php',
    when: [{ path: 'composer.json' }],
    missing: 'composer.json is there, and neither public/index.php nor index.php',
  },
];

/** In the order in which they are tried. */
export const PAGES: readonly Stack[] = [...RUBY, ...PHP];
