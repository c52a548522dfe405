/** Stacks on Ruby and PHP. */
import { type Clue, type CommandLine, rowsOf, type SharedPath, type Stack } from './stack.ts';

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

const RACKUP: Clue = { path: 'config.ru' };
const RACK = { env: { ...BUNDLER, RACK_ENV: 'production' } };

const inDatabaseYml = (path: string): Clue => ({
  path: 'config/database.yml',
  text: new RegExp(`^[^#\\n]{0,40}\\bdatabase:[ \\t]{0,3}["']?${path}`, 'm'),
});

const ruby = rowsOf('ruby', { build: ['{install}'] });
const RUBY: readonly Stack[] = [
  ruby.server(
    'Rails',
    ['rails', { path: 'config/application.rb' }],
    'bin/rails server -b 127.0.0.1 -p $PORT',
    {
      build: ['{install}', PRECOMPILE],
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
  ),
  ruby.site('Jekyll', ['jekyll github-pages', { path: '_config.yml' }], '_site', {
    build: ['{install}', 'JEKYLL_ENV=production bundle exec jekyll build'],
    env: BUNDLER,
  }),
  ruby.server('Rack', [RACKUP, 'puma'], 'bundle exec puma -b tcp://127.0.0.1:$PORT', RACK),
  ruby.server(
    'Rack',
    [RACKUP, 'rackup rack webrick thin falcon'],
    'bundle exec rackup -o 127.0.0.1 -p $PORT',
    RACK,
  ),
  ruby.missing(
    'Ruby',
    { path: 'Gemfile' },
    'the Gemfile names neither Rails nor Jekyll, and no config.ru starts a Rack app',
  ),
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

const LARAVEL = 'DB_URL="$DATABASE_URL" php artisan migrate --force';
const php = rowsOf('php', { build: ['{install}', ...VITE] });
/** Without a framework. */
const bare = { build: [{ run: '{install}', when: [{ path: 'composer.json' }] }] };

const PHP: readonly Stack[] = [
  php.server(
    'Laravel, Octane',
    ['laravel/octane', { path: 'artisan' }],
    'php artisan octane:start --host=127.0.0.1 --port=$PORT',
    {
      port: 8000,
      health: { run: '/up', when: [{ path: 'bootstrap/app.php', text: /health: ['"]\/up/ }] },
      shared: [ENV_FILE, { path: 'storage/', why: 'uploads, logs and SQLite' }],
      migrate: LARAVEL,
    },
  ),
  php.site('Laravel', ['laravel/framework', { path: 'artisan' }], 'public', {
    shared: [ENV_FILE, { path: 'storage/', why: 'uploads and logs' }],
    migrate: LARAVEL,
  }),
  php.site('Symfony', ['symfony/framework-bundle', { path: 'bin/console' }], 'public', {
    env: { APP_ENV: 'prod' },
    shared: [{ path: '.env.local', why: 'the settings of this server' }],
    migrate: {
      run: 'php bin/console doctrine:migrations:migrate -n',
      when: [{ dep: 'doctrine/doctrine-migrations-bundle' }],
    },
  }),
  php.site('PHP', { path: 'public/index.php' }, 'public', bare),
  php.site('PHP', { path: 'index.php' }, '.', bare),
  php.missing(
    'PHP',
    { path: 'composer.json' },
    'composer.json is there, and neither public/index.php nor index.php',
  ),
];

/** In the order in which they are tried. */
export const PAGES: readonly Stack[] = [...RUBY, ...PHP];
