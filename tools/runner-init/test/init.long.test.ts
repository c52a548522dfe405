import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { init, laidOut, scratches, server, written } from './root.ts';

test('of several apps one is chosen, and its commands run in its folder', async () => {
  const app = { 'package.json': { scripts: { start: 'node index.js' } } };
  const files = { 'a/package.json': app['package.json'], 'b c/package.json': app['package.json'] };
  const folder = laidOut({ ...files, '.git/HEAD': '' });
  const { status, stderr } = await init(folder, ['--no-prove']);
  assert.equal([status, stderr.split('\n').length], [1, 4]);
  assert.match(stderr, /there are 2 apps: choose one with --dir\n.*--dir a\n.*--dir b c\n/);
  const chosen = await init(folder, ['--no-prove', '--dir', './b c/']);
  assert.match(chosen.stdout, "run: cd 'b c' && NODE_ENV=production node index.js");
  // In the folder itself the file still goes to the top.
  assert.is((await init(join(folder, 'a'), ['--no-prove', '--yes'])).status, 0);
  assert.match(written(folder), 'run: cd a && NODE_ENV=production node index.js');
});

test('JSON has what was found, the settings with their reasons, and the proof', async () => {
  const folder = laidOut({ 'public/index.html': '<h1>Hi</h1>' });
  const { status, stdout } = await init(folder, ['--json']);
  const { file, ...answer } = JSON.parse(stdout) as Record<string, unknown>;
  assert.match(String(file), 'type: none');
  assert.equal(
    [status, answer],
    [
      0,
      {
        stack: 'Static files',
        manager: null,
        dir: '',
        settings: [
          {
            key: 'start.type',
            value: 'none',
            reason:
              'a web server shows it: add a domain, then sudo runner setup <app> --public public',
          },
        ],
        output: 'public',
        notes: [],
        missing: null,
        apps: [],
        proof: { result: 'proven' },
        written: null,
      },
    ],
  );
});

test('the top of an app in a folder is named without a dot', async () => {
  const folder = laidOut({ 'apps/web/index.html': '<h1>Hi</h1>' });
  const { stdout } = await init(folder, ['--dir', 'apps/web', '--yes']);
  assert.match(stdout, /Proven: it was built, and apps\/web has an index page\.\n/);
});

test('after a proof that failed, the next step is to fix it, not to push it', async () => {
  const folder = laidOut({ 'server.js': "// createServer(\nthrow new Error('no database');\n" });
  const { status, stdout } = await init(folder, ['--yes']);
  assert.is(status, 1);
  assert.match(
    stdout,
    /\. Not proven\.\nNext: fix the cause, or edit the file, before it is used\n$/,
  );
});

test('a script that migrates is named, and else what would migrate', async () => {
  const scripts = {
    prestart: 'npm run db',
    db: 'prisma migrate deploy && echo ok',
    start: 'node a.js',
  };
  const own = laidOut({ 'package.json': { scripts }, 'a.js': server('/') });
  const { stdout } = await init(own, ['--no-prove']);
  assert.match(
    stdout,
    '# Note: migrations run, in the proof too: scripts.db of package.json has `prisma migrate deploy`.',
  );
  assert.match(stdout, 'run: NODE_ENV=production npm run start');
  // It would reset the database.
  const develops = { start: 'node a.js', migrate: 'prisma migrate dev' };
  const prisma = { 'package.json': { scripts: develops }, 'prisma/schema.prisma': '' };
  assert.match((await init(laidOut(prisma), ['--no-prove'])).stdout, 'migrate: npx prisma migrate');
  const files = { Gemfile: 'gem "rails"\n', 'config/application.rb': '' };
  const rails = await init(laidOut(files), ['--no-prove']);
  assert.match(
    rails.stdout,
    '# Note: migrations are not run: once DATABASE_URL is set, add migrate: bin/rails db:migrate (it must use that variable: docs/database.md).',
  );
  const go = (driver: string) => ({
    'go.mod': `module shop\nrequire ${driver} v1.0.0\n`,
    'main.go': 'package main\nfunc main() {}\n',
    'db/migrations/001_a.sql': '-- +goose Up\n',
  });
  const node = { 'package.json': { scripts: { start: 'node a.js' } }, 'a.js': server('/') };
  for (const [own, command] of [
    [
      go('github.com/jackc/pgx/v5'),
      'GOOSE_DRIVER=postgres GOOSE_DBSTRING="$DATABASE_URL" goose -dir db/migrations up',
    ],
    [
      go('modernc.org/sqlite'),
      'GOOSE_DRIVER=sqlite3 GOOSE_DBSTRING="${DATABASE_URL#sqlite:}" goose',
    ],
    [go('github.com/go-sql-driver/mysql'), 'a script that sets GOOSE_DRIVER=mysql'],
    [
      { ...node, 'package.json': { scripts: { start: 'node a.js', migrate: 'node-pg-migrate' } } },
      'npm run migrate up',
    ],
    [{ ...node, 'knexfile.js': '' }, 'npx knex migrate:latest --env production'],
    [{ ...node, '.sequelizerc': '' }, 'npx sequelize-cli db:migrate --env production'],
    [{ ...node, 'flyway.conf': '' }, 'a script that sets FLYWAY_URL, FLYWAY_USER and'],
    [
      { ...node, 'db/migrations/001.sql': 'select 1;' },
      'a script that runs each file of db/migrations once',
    ],
  ] as const) {
    const { stdout: shown } = await init(laidOut(own), ['--no-prove']);
    assert.ok(shown.includes(`add migrate: ${command}`), shown);
  }
  const web = 'web: bin/rails db:migrate && bin/rails server\n';
  const procfile = await init(laidOut({ ...files, Procfile: web }), ['--no-prove']);
  assert.match(procfile.stdout, 'too: Procfile: web has `bin/rails db:migrate`.');
  assert.not.match(procfile.stdout, 'are not run');
});

for (const [file, text, port] of [
  ['server.js', 'createServer(f).listen(process.env.PORT || 23100)', '23100'],
  ['server.js', "createServer(f).listen(parseInt(process.env['PORT'], 10) ?? 8080)", '8080'],
  ['server.js', 'const { PORT = 4100 } = process.env; createServer(f).listen(PORT)', '4100'],
  ['server.js', 'createServer(f).listen(process.env.DB_PORT || 5432)', '3000'],
  ['server.py', 'import http.server\nport = os.environ.get("PORT", "23200")', '23200'],
  ['app.py', 'import http.server\nport = int(os.getenv("PORT", 8001))', '8001'],
] as const)
  test(`the port of ${text.trim().split('\n').at(-1)} is ${port}`, async () => {
    const { stdout } = await init(laidOut({ [file]: text }), ['--no-prove']);
    assert.match(stdout, `PORT: "${port}" # ${port === '3000' ? 'where' : `${file}: its default`}`);
  });

for (const [config, output] of [
  ["export default { base: '/x/', build: { outDir: './public/site' } }", 'public/site'],
  ["export default { build: { outDir: '../up' } }", 'dist'],
  ["// outDir: 'old'", 'dist'],
] as const)
  test(`Vite with ${config} makes ${output}`, async () => {
    const scripts = { build: 'vite build' };
    const files = { 'package.json': { scripts, devDependencies: { vite: '7' } } };
    const folder = laidOut({ ...files, 'vite.config.ts': config });
    const { stdout } = await init(folder, ['--no-prove', '--json']);
    assert.is((JSON.parse(stdout) as { output: string }).output, output);
  });

test('a refusal leaves no scratch folder behind', async () => {
  const folder = laidOut({ 'server.js': server('/'), '.deploy.yml': '' });
  await init(folder, ['--yes']);
  assert.equal(readdirSync(scratches), []);
});

test.run();
