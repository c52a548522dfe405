/** The first morning of an app that comes from another tool: what the file alone does not say is said. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const root = temporaryFolder('switching');

async function importing(format: string, file: string, text: string) {
  writeFileSync(join(root, file), text);
  const given = [format, file, '--root', '/opt/runner', '--app', 'shop', '--json'];
  const { status, stdout, stderr } = await run('runner-import', given, { cwd: root });
  assert.is(status, 0, stderr);
  return JSON.parse(stdout);
}

const leftOf = (answer: { left: { key: string; reason: string }[] }, key: string) =>
  answer.left.find((each) => each.key === key)?.reason;

const FOLDER =
  'is the folder of each release: if the app writes what it must keep there, add it to shared';

test('a folder of code that compose mounts is not shared, which would keep its first version', async () => {
  const answer = await importing(
    'compose',
    'compose.yaml',
    `services:
  web:
    build: .
    volumes:
      - ./src:/var/www/html
      - ./nginx:/etc/nginx/conf.d
      - ./db:/docker-entrypoint-initdb.d
      - ./uploads:/app/uploads
      - ./pg:/var/lib/postgresql/data
      - { type: bind, source: ./media, target: /app/media }
`,
  );
  assert.match(answer.deploy_file, 'shared:\n  - uploads/\n  - pg/\n  - media/\n');
  for (const number of [0, 1, 2])
    assert.is(leftOf(answer, `services.web.volumes[${number}]`), FOLDER);
});

test('paths are relative to the compose file, which is also the one that is built', async () => {
  mkdirSync(join(root, 'deploy'), { recursive: true });
  const text =
    'services:\n  web:\n    build: .\n    env_file: prod.env\n    environment: ["A=$A"]\n    volumes: ["./data:/data"]\n';
  const answer = await importing('compose', 'deploy/prod.yaml', text);
  assert.match(answer.deploy_file, 'run: docker compose --file deploy/prod.yaml build');
  assert.match(answer.deploy_file, 'shared:\n  - deploy/prod.env\n  - deploy/data/\n');
  assert.ok(answer.commands.includes('runner env import shop --file deploy/.env'));
});

test('what docker compose takes from .env is named, and a build gets what it needs', async () => {
  const text = `services:
  web:
    build: { context: ., args: ["VERSION=\${VERSION}", "DEBUG=\${DEBUG:-0}", "COMMIT=$RUNNER_COMMIT"] }
    image: shop:\${RUNNER_COMMIT}
    environment:
      - SECRET_KEY=$SECRET_KEY
      - PRICE=$$5
      - RAILS_MASTER_KEY=\${RAILS_MASTER_KEY:?}
`;
  const { deploy_file: file, commands, notes } = await importing('compose', 'compose.yaml', text);
  // docker compose reads the whole file before it builds.
  assert.match(file, '  env:\n    - VERSION\n    - RAILS_MASTER_KEY\n  run:');
  assert.equal(commands, [
    'runner add URL --name shop --token-file <FILE>',
    'runner env import shop --file .env',
  ]);
  assert.equal(notes, [
    'docker compose takes VERSION, DEBUG, SECRET_KEY, RAILS_MASTER_KEY from its environment: import the .env that sets them, or use runner env set',
  ]);
  const shared = await importing('compose', 'compose.yaml', `${text}    env_file: .env\n`);
  assert.equal(shared.notes, []);
  // build.env would refuse the deploy until each is also set as a secret.
  assert.not.match(shared.deploy_file, 'env:');
});

test('a unit runs the release, and its socket and logs stay where others look for them', async () => {
  const { files, left } = await importing(
    'unit',
    'shop.service',
    `[Service]
WorkingDirectory=/home/ada/shop
Environment="PATH=/home/ada/shop/venv/bin:/usr/bin"
ExecStart=/home/ada/shop/venv/bin/gunicorn --access-logfile /home/ada/shop/logs/a.log --bind unix:/home/ada/shop/shop.sock wsgi:app
`,
  );
  const current = '/opt/runner/apps/shop/instances/default/current';
  assert.is(
    files[0].text,
    `[Service]
WorkingDirectory=${current}
Environment=PATH=${current}/venv/bin:/usr/bin
ExecStart=
ExecStart=${current}/venv/bin/python -m gunicorn --access-logfile /home/ada/shop/logs/a.log --bind unix:/home/ada/shop/shop.sock wsgi:app
`,
  );
  assert.equal(left, []);
});

test('a unit that would go on running a folder outside the release is named', async () => {
  const unit = (start: string) => `[Service]\nUser=ada\nExecStart=${start}\n`;
  const outside = await importing('unit', 'shop.service', unit('/usr/bin/node /srv/shop/a.js'));
  assert.match(leftOf(outside, 'Service.ExecStart') ?? '', 'runs what is not in the release');
  for (const start of [
    '/opt/node20/bin/node a.js',
    '/home/ada/.nvm/bin/node a.js',
    '/usr/bin/a /var/a/b',
  ])
    assert.equal((await importing('unit', 'shop.service', unit(start))).left, [], start);
});

test('what an ecosystem file takes from its environment is named', async () => {
  const { commands, notes } = await importing(
    'pm2',
    'ecosystem.config.js',
    `require('dotenv').config();
const shared = { JWT_SECRET: process.env.JWT_SECRET };
module.exports = { apps: [{ name: 'shop', script: 'a.js', env: { PORT: process.env.PORT, ...shared } }] };
`,
  );
  assert.equal(commands.slice(1), ['runner env import shop --file .env']);
  assert.match(notes[0], 'ecosystem.config.js takes JWT_SECRET from its environment: ');
});

test('Rails of Capistrano keeps its environment, and what the Capfile did is asked for', async () => {
  const text = "set :application, 'shop'\nset :linked_files, %w[config/database.yml]\n";
  const { deploy_file: file, notes } = await importing('capistrano', 'deploy.rb', text);
  assert.match(file, 'RAILS_ENV: production # capistrano/rails sets it to the stage');
  assert.equal(notes, [
    'nothing in the file installs or builds the app: add build, such as npm ci',
    'nothing in the file starts the app: add start and health',
  ]);
  const staging = await importing('capistrano', 'deploy.rb', `set :stage, :staging\n${text}`);
  assert.match(staging.deploy_file, 'RAILS_ENV: staging');
  const linked = 'set :linked_dirs, %w[log node_modules]\n';
  const node = await importing('capistrano', 'deploy.rb', linked);
  assert.match(leftOf(node, 'set.linked_dirs[1]') ?? '', 'npm ci replaces it');
  const bare = await importing('capistrano', 'deploy.rb', "set :repository, 'https://h.org/a/b'\n");
  assert.is(bare.notes.length, 2);
  const php = await importing('capistrano', 'deploy.rb', "set :linked_files, ['.env']\n");
  assert.not.match(php.deploy_file, 'RAILS_ENV');
});

test('the containers of Kamal find their accessories by the names they had', async () => {
  const { files, commands, notes } = await importing(
    'kamal',
    'deploy.yml',
    `service: shop
image: acme/shop
servers: [192.0.2.1]
env: { clear: { DB_HOST: shop-db } }
accessories:
  db: { image: "postgres:16", env: { secret: [POSTGRES_PASSWORD] }, directories: ["data:/var/lib/postgresql/data"] }
  cache: { image: redis, service: redis-main }
`,
  );
  const network = 'networks:\n  default:\n    name: kamal\n    external: true\n';
  for (const { text } of files) assert.match(text, network);
  assert.match(files[1].text, /^ {2}shop-db:\n(?:.*\n)+ {2}redis-main:\n/m);
  assert.equal(commands, [
    'runner add URL --name shop --token-file <FILE>',
    'runner env set shop POSTGRES_PASSWORD',
  ]);
  assert.match(notes[0], 'let the accessories that Kamal started run on, with their data; ');
});

test('a file of a destination names the one that it changes', async () => {
  const text = 'retain_containers: 1\nenv: { clear: { RAILS_ENV: staging } }\n';
  const { notes } = await importing('kamal', 'deploy.staging.yml', text);
  assert.ok(notes[0].startsWith('a destination changes config/deploy.yml: '));
});

test('Kamal reads YAML after ERB: quotes and colons in a tag do not count', async () => {
  const answer = await importing(
    'kamal',
    'deploy.yml',
    `<% require "dotenv"
   Dotenv.load(".env") %>
<% if ENV["HOST"] %> # a comment
service: shop
image: "<%= ENV["OWNER"] %>/shop"
servers:
  web:
    hosts: ["<%= ENV.fetch("HOST") %>"]
    cmd: serve <%= ENV["GC"] == "no" ? "" : "--gc" %>
<% end %>
`,
  );
  assert.equal(
    answer.left.map(({ key, line }: { key: string; line: number }) => `${line} ${key}`),
    ['5 image', '9 servers.web.cmd'],
  );
});

test('of several processes in a Procfile, web is asked whether it answers', async () => {
  const text = 'web: node a.js\nworker: node b.js\n';
  const { deploy_file: file, notes } = await importing('procfile', 'Procfile', text);
  assert.match(file, '[ "$RUNNER_INSTANCE" != web ] || curl --silent');
  assert.match(notes[0], 'Heroku sets NODE_ENV, RAILS_ENV or RACK_ENV to production');
});

test.run();
