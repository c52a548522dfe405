/** What `runner import` prints, and what it refuses. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const root = temporaryFolder('import');

/** The file as the command reads it, by its name. */
function importing(format: string, file: string, text: string, ...more: readonly string[]) {
  writeFileSync(join(root, file), text);
  return run('runner-import', [format, file, '--root', '/opt/runner', ...more], { cwd: root });
}

const ECOSYSTEM = `module.exports = {
  apps: [{
    name: 'shop',
    script: 'server.js',
    funky: true,
    env: { PORT: 3000, API_KEY: 'Zx9kQ2mV7tLw' },
  }],
};
`;

test('stdout is the .deploy.yml, stderr what is left and what to run', async () => {
  const { status, stdout, stderr } = await importing('pm2', 'ecosystem.config.js', ECOSYSTEM);
  assert.is(status, 0);
  assert.is(
    stdout,
    `# Made by runner import from ecosystem.config.js

start:
  type: pm2 # pm2 keeps running it
  config: ecosystem.config.js # pm2 reads it from each release
health:
  tcp: 127.0.0.1:3000 # PORT; better is a url that answers 200
`,
  );
  assert.is(
    stderr,
    `ecosystem.config.js:5: apps[0].funky: is not a setting of pm2 that runner knows
runner import: take the value of API_KEY out of ecosystem.config.js: a value in the file wins over that of runner
runner import: nothing in the file installs or builds the app: add build, such as npm ci
runner import: run: runner add URL --name shop --token-file <FILE>
runner import: run: runner env set shop API_KEY
`,
  );
});

test('--json has both, and the value of no secret', async () => {
  const { status, stdout, stderr } = await importing('pm2', 'eco.config.js', ECOSYSTEM, '--json');
  assert.equal([status, stderr], [0, '']);
  const answer = JSON.parse(stdout);
  assert.equal(Object.keys(answer).sort(), [
    'app',
    'commands',
    'deploy_file',
    'file',
    'files',
    'left',
    'mapped',
    'notes',
    'settings',
  ]);
  assert.equal(answer.left, [
    { key: 'apps[0].funky', line: 5, reason: 'is not a setting of pm2 that runner knows' },
  ]);
  assert.equal(answer.mapped.at(-1), {
    key: 'apps[0].env.API_KEY',
    line: 6,
    to: 'runner env set shop API_KEY',
  });
  assert.not.match(stdout, 'Zx9kQ2mV7tLw');
});

test('code is not run, and what it computes is listed', async () => {
  const marker = join(root, 'ran');
  const text = `require('fs').writeFileSync(${JSON.stringify(marker)}, '');
module.exports = { apps: [{ script: 'a.js' }], deploy: { production: { repo: process.env.REPO, ref: 'main' } } };
`;
  const { stderr } = await importing('pm2', 'ecosystem.config.js', text);
  assert.match(stderr, 'ecosystem.config.js:2: deploy.production.repo: is computed');
  assert.is(existsSync(marker), false);
});

/** The `.deploy.yml` without its comments at the top. */
const jobsIn = (stdout: string) => stdout.slice(stdout.indexOf('jobs:\n'));

function importingAt(zone: string, format: string, file: string, text: string) {
  writeFileSync(join(root, file), text);
  const env = { TZ: zone };
  return run('runner-import', [format, file, '--root', '/opt/runner'], { cwd: root, env });
}

test('the lines of a crontab become jobs, in the time zone of the machine', async () => {
  const text = `MAILTO=ops@example.org
*/5 * * * * cd /srv/shop && bin/rake jobs:run >> /var/log/jobs.log 2>&1
0 4 * * * pg_dump shop | gzip > dump.gz
61 * * * * bin/late
@reboot node server.js
0 0 31 2 * bin/never
`;
  const { stdout, stderr } = await importingAt('Europe/Berlin', 'crontab', 'cron', text);
  assert.is(
    jobsIn(stdout),
    `jobs:
  jobs-run:
    run: bin/rake jobs:run # cron:2: job
    every: 5m
  pg_dump:
    run: pg_dump shop | gzip > dump.gz # cron:3: job
    at: 04:00
    zone: Europe/Berlin
`,
  );
  assert.is(
    stderr,
    `cron:1: env.MAILTO: no mail is sent: a job that fails is announced in the chats
cron:4: job: is not a schedule with a command
cron:5: job: starts something at boot: make it the start of the app, which runner starts at boot
cron:6: job: '0 0 31 2 *' is never due
runner import: output is kept: redirections to logs and /dev/null are left out
runner import: cd /srv/shop is left out: jobs run in the folder of the active release
runner import: times are in Europe/Berlin, the zone of this machine: set zone if cron had another
runner import: a run ends after 1h, and a time is skipped while the run before it goes on: see timeout and overlap
runner import: once the jobs are deployed, remove their old lines: they would run twice
`,
  );
});

test('a job keeps no user, and none whose command cron would cut at a %', async () => {
  const text = `17 * * * * root cd / && run-parts --report /etc/cron.hourly
5 4 * * * www-data cd /srv/shop/current/jobs && bin/rake nightly
6 4 * * * deploy bin/report --at $(date +\\%F)
7 4 * * * deploy mail -s x ops@example.org%Hello%there
8 4 * * * root sudo -u deploy bin/report
9 4 * * * /srv/shop/bin/direct
`;
  const { stdout, stderr } = await importingAt('UTC', 'crontab', 'cron', text);
  assert.is(
    jobsIn(stdout),
    `jobs:
  nightly:
    run: cd jobs && bin/rake nightly # cron:2: job
    at: 04:05
  report:
    run: bin/report --at $(date +%F) # cron:3: job
    at: 04:06
  direct:
    run: /srv/shop/bin/direct # cron:6: job
    at: 04:09
`,
  );
  for (const line of [
    'cron:2: user.www-data: a job runs as the user of the app',
    'cron:3: user.deploy: a job runs as the user of the app',
    'cron:1: job: is a job of the system: let it stay where it is',
    'cron:4: job: has a % without a backslash: cron gives the rest to the command as its input',
    'cron:5: job: needs another user: a job runs as the user of the app',
  ])
    assert.ok(stderr.split('\n').includes(line), stderr);
});

test('a crontab may set the zone of the times below it', async () => {
  const text = `0 4 * * * bin/a
CRON_TZ=America/New_York
0 */2 * * sat,sun bin/b
0 4 * * 1-5 bin/c
CRON_TZ=UTC
0 */2 * * * bin/c
TZ=Asia/Tokyo
`;
  const { stdout, stderr } = await importingAt('Europe/Berlin', 'crontab', 'cron', text);
  assert.is(
    jobsIn(stdout).replace(/ #.*/g, ''),
    `jobs:
  a:
    run: bin/a
    at: 04:00
    zone: Europe/Berlin
  b:
    run: bin/b
    cron: 0 */2 * * sat,sun
    zone: America/New_York
  c:
    run: bin/c
    at: mon-fri 04:00
    zone: America/New_York
  c-2:
    run: bin/c
    every: 2h
`,
  );
  assert.match(stderr, /^cron:7: env\.TZ: does not set the times of a file with CRON_TZ$/m);
  assert.not.match(stderr, /TZ is read/);
});

test('the tasks of a schedule.rb become jobs, and what is not plain is named with its line', async () => {
  const text = `set :output, "#{path}/log/cron.log"
env :MAILTO, 'ops@example.org'
job_type :sidekiq, "cd :path && bundle exec sidekiq-client push :task :output"
every 1.day, at: ['4:30 am', '6:00 pm'], roles: [:app] do
  rake "sitemap:refresh", output: nil
  runner "User.remind('all')"
  sidekiq "Poll"
end
every '0 0 27-31 * *' do
  command "cd /srv/shop/current && bin/close >> log/close.log 2>&1"
  rake "sync:#{name}"
end
every 1.month, at: 'January 18th at 1:59am' do
  rake "x"
end
if production?
  every(:hour) { rake "y" }
end
`;
  const { stdout, stderr } = await importingAt('UTC', 'whenever', 'schedule.rb', text);
  assert.is(
    jobsIn(stdout).replace(/ # .*/g, ''),
    `jobs:
  sitemap-refresh:
    run: bundle exec rake sitemap:refresh
    at:
      - 04:30
      - 18:00
  user-remind:
    run: bin/rails runner -e production 'User.remind('\\''all'\\'')'
    at:
      - 04:30
      - 18:00
  sidekiq-client:
    run: bundle exec sidekiq-client push Poll
    at:
      - 04:30
      - 18:00
  close:
    run: bin/close
    cron: 0 0 27-31 * *
`,
  );
  const unclear = 'its time is not one that import understands: write at, every or cron';
  const code = 'is code, which is not run: write what it schedules into jobs';
  const unneeded = 'is not needed: runner runs a job in the release, and keeps its output';
  assert.equal(
    stderr.split('\n').filter((line) => line.startsWith('schedule.rb:')),
    [
      `schedule.rb:1: set.output: ${unneeded}`,
      'schedule.rb:2: env.MAILTO: no mail is sent: a job that fails is announced in the chats',
      'schedule.rb:4: every.roles: runner works on one server: remove the jobs of other roles',
      `schedule.rb:5: job.rake.output: ${unneeded}`,
      'schedule.rb:11: job.rake: is computed when the file runs: write the value into .deploy.yml yourself',
      `schedule.rb:13: every: ${unclear}`,
      `schedule.rb:13: every.at: ${unclear}`,
      `schedule.rb:14: job.rake: ${unclear}`,
      `schedule.rb:16: code: ${code}`,
      `schedule.rb:17: code: ${code}`,
    ],
  );
});

test('APP stands for a name that is computed, and a secret of the build is stored', async () => {
  const text =
    "service: <%= ENV['NAME'] %>\nimage: acme/shop\nbuilder:\n  secrets: [GH]\nservers: [192.0.2.1]\n";
  const { stdout, stderr } = await importing('kamal', 'deploy.yml', text);
  assert.match(stdout, '  env:\n    - GH\n');
  assert.match(
    stderr,
    'APP stands for the name of the app: give it with --app\nrunner import: run: runner add URL --name APP --token-file <FILE>\nrunner import: run: runner env set APP GH\n',
  );
  assert.match(stderr, 'deploy.yml:1: service: is computed: give the name of the app with --app\n');
});

test('several instances each run what Heroku runs once', async () => {
  const { stderr } = await importing(
    'procfile',
    'Procfile',
    'web: node a.js\nworker: node b.js\nrelease: npm run migrate\n',
  );
  assert.match(
    stderr,
    'runner import: Heroku runs release once, runner runs hooks.pre_switch for each instance: it must be safe to repeat\n',
  );
});

test('a unit gets a drop-in that runs it in the active release', async () => {
  const text = '[Service]\nWorkingDirectory=/srv/shop\nExecStart=/srv/shop/bin/web --port 3000\n';
  const { stdout, stderr } = await importing('unit', 'shop.service', text);
  assert.match(stdout, 'unit: shop.service');
  assert.match(
    stderr,
    `write this into /etc/systemd/system/shop.service.d/runner.conf:
[Service]
WorkingDirectory=/opt/runner/apps/shop/instances/default/current
ExecStart=
ExecStart=/opt/runner/apps/shop/instances/default/current/bin/web --port 3000
`,
  );
});

test('the login of a repository is in no command, and the app is registered without it', async () => {
  const text =
    "set :application, 'shop'\nset :repo_url,'https://user:t0kenT0ken@github.com/acme/shop.git'\n";
  const { status, stdout, stderr } = await importing('capistrano', 'deploy.rb', text);
  assert.equal([status, stdout], [0, '']);
  assert.is(
    stderr,
    `runner import: the login in the address of the repository is left out: give it to runner add with --token-file
runner import: nothing in the file installs or builds the app: add build, such as npm ci
runner import: nothing in the file starts the app: add start and health
runner import: run: runner add https://github.com/acme/shop --name shop --token-file <FILE>
`,
  );
});

for (const [what, format, text, wanted] of [
  [
    'a file of another format',
    'procfile',
    'nothing of this',
    /^f:1: line: .*\nrunner import: f: nothing in it has a place in runner/,
  ],
  [
    'broken JavaScript',
    'pm2',
    'module.exports = {\n a: [',
    /^runner import: f:2: is not JavaScript/,
  ],
  [
    'JavaScript that exports nothing',
    'pm2',
    "const apps = [{ name: 'x', script: 'a.js' }];",
    /^f:1: code: is code, and no app is exported\nrunner import: f: nothing in it has a place in runner/,
  ],
  ['broken YAML', 'kamal', 'service: "shop', /^runner import: f:1: a closing quote/],
  [
    'a unit that runs once',
    'unit',
    '[Service]\nType=oneshot\nExecStart=x',
    /f:1?2: .*\n(?:.*\n)*runner import: f: nothing/,
  ],
  [
    'a unit that is called a file of pm2',
    'pm2',
    '[Service]\nExecStart=/bin/a\n',
    /^runner import: f:2: is not JSON/,
  ],
  [
    'a compose file without services',
    'compose',
    'version: "3"\nvolumes: { a: {} }\n',
    /^f:2: volumes\.a: .*\nrunner import: f: nothing in it has a place in runner/,
  ],
  [
    'an empty file',
    'procfile',
    '',
    /^runner import: f: nothing in it has a place in runner \(not_imported\)/,
  ],
] as const) {
  test(`${what} is one sentence and the status 1`, async () => {
    const { status, stdout, stderr } = await importing(format, 'f', text);
    assert.equal([status, stdout], [1, '']);
    assert.match(stderr, wanted);
  });
}

test('a file that is too large or has no name is refused', async () => {
  const { status, stderr } = await importing('procfile', 'f', 'web: x\n'.repeat(20_000));
  assert.is(status, 1);
  assert.match(stderr, 'is larger than 65536 bytes (file_unreadable)');
});

test.run();
