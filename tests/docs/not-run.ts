/** What of the documentation's commands a test cannot run, each with its reason. */

/** A page, block or line that is not run. */
export interface NotRun {
  readonly page: string;
  /** Text that one block of the page holds: the block is left out. */
  readonly block?: string;
  /** A line of one block: the line alone is left out. Without block and line it is the page. */
  readonly line?: string;
  readonly reason: string;
}

/** In the order of the pages. */
export const NOT_RUN: readonly NotRun[] = [
  {
    page: 'README.md',
    block: 'npm run demo ',
    reason:
      'the demo is played by tests/docs/pictures.long.test.ts; the tests cannot run the tests',
  },
  {
    page: 'README.md',
    block: 'npm run package',
    reason: 'it installs a package as root: npm run test:system does, in a booted system',
  },
  {
    page: 'README.md',
    block: 'npm run build',
    reason: 'the build makes what the tests run, and cannot change under them',
  },
  {
    page: 'docs/agents.md',
    block: 'apt install',
    reason: 'it installs a package as root',
  },
  {
    page: 'docs/agents.md',
    block: 'ssh -i',
    reason: 'tools/runner-mcp/test/ssh.long.test.ts does it with an sshd of its own',
  },
  {
    page: 'docs/contributing.md',
    block: 'npm run bench -- extract tinpack-seam',
    reason: 'libs/extract/test/adding-a-rule.test.ts follows it in a copy of the extractor',
  },
  {
    page: 'docs/contributing.md',
    block: 'npm run bench -- extract --faults',
    reason: 'it runs the tests of the checkout, and the tests cannot run the tests',
  },
  {
    page: 'docs/code-hosts.md',
    reason:
      'it needs the hosts: tests/deploys/code-hosts, github-app and require-checks follow it with stand-ins',
  },
  {
    page: 'docs/audit-log.md',
    line: 'runner audit tail -f --json | jq .version               # live, through rotations',
    reason: 'it follows the log and never ends; tail -f has tests of its own',
  },
  {
    page: 'docs/audit-log.md',
    block: 'runner audit anchor ',
    reason: 'the log has no such record: tools/runner-audit/test/chain.test.ts asks for some',
  },
  {
    page: 'docs/commands.md',
    block: 'runner plan contract shop',
    reason: 'the shop of the documentation has no contract: tests/database plans some',
  },
  {
    page: 'docs/commands.md',
    block: 'runner apply p-1a2b3c4d',
    reason: 'there is no such plan: tests/approvals makes some',
  },
  {
    page: 'docs/commands.md',
    block: 'runner approve p-1a2b3c4d',
    reason: 'there is no such plan: tests/approvals makes some',
  },
  {
    page: 'docs/commands.md',
    line: 'runner waker',
    reason: 'it listens until it is ended: tests/traffic/sleep.test.ts calls it',
  },
  {
    page: 'docs/commands.md',
    block: 'runner mcp --grant claude',
    reason: 'there is no such grant: the tests of runner-mcp have some',
  },
  {
    page: 'docs/commands.md',
    block: '-f KEY > approval.sig',
    reason: 'there is no such plan: tests/approvals makes some',
  },
  {
    page: 'docs/commands.md',
    block: 'sudo runner grant',
    reason: 'it writes to /etc/runner: tests/approvals/grants.test.ts has another folder',
  },
  {
    page: 'docs/commands.md',
    block: 'runner hold-traffic shop',
    reason: 'the shop of the documentation has no traffic: tests/traffic/hold.test.ts holds some',
  },
  {
    page: 'docs/commands.md',
    line: 'runner jobs run shop nightly',
    reason: 'the shop of the documentation has no jobs: tests/jobs runs some',
  },
  {
    page: 'docs/commands.md',
    line: 'runner jobs shop nightly',
    reason: 'the shop of the documentation has no jobs: tests/jobs runs some',
  },
  {
    page: 'docs/commands.md',
    line: 'runner watch shop --proxy nginx',
    reason: 'the shop of the documentation has no canary: tests/traffic/canary prints it',
  },
  {
    page: 'docs/watching.md',
    line: 'runner watch shop --proxy nginx    # or caddy, haproxy: prints what the site needs',
    reason: 'the shop of the documentation has no canary: tests/traffic/canary prints it',
  },
  {
    page: 'docs/commands.md',
    line: 'runner jobs log shop nightly',
    reason: 'the shop of the documentation has no jobs: tests/jobs runs some',
  },
  {
    page: 'docs/commands.md',
    block: 'runner jobs pause shop nightly',
    reason: 'the shop of the documentation has no jobs: tests/jobs runs some',
  },
  {
    page: 'docs/commands.md',
    block: 'runner jobs resume shop nightly',
    reason: 'the shop of the documentation has no jobs: tests/jobs runs some',
  },
  {
    page: 'docs/database.md',
    block: 'exec flyway migrate',
    reason: 'a file of the app, which needs Flyway and a PostgreSQL',
  },
  {
    page: 'docs/database.md',
    block: 'psql -X',
    reason: 'a file of the app, which needs a PostgreSQL',
  },
  {
    page: 'docs/database.md',
    block: 'runner deploy shop --migrated',
    reason: 'no migration of the shop was killed: tests/database kills some',
  },
  {
    page: 'docs/database.md',
    block: 'runner rollback shop --to v41 --database',
    reason: 'the shop of the documentation has no database: tests/database restores some',
  },
  {
    page: 'docs/commands.md',
    line: 'runner edit shop --require-signed strict',
    reason: 'it needs a list of keys that belongs to root: tests/signed has one',
  },
  {
    page: 'docs/signed-commits.md',
    reason: 'it needs root, keys and signed commits: tests/signed follows it',
  },
  {
    page: 'docs/jobs.md',
    reason: 'the shop of the documentation has no jobs: tests/jobs runs some',
  },
  {
    page: 'docs/commands.md',
    block: 'runner init --no-prove',
    reason: 'it needs a checkout: the page deploy-file.md and tools/runner-init/test have some',
  },
  {
    page: 'docs/commands.md',
    line: 'runner audit verify --anchor 4711:1a2b3c4d5e6f70819a2b3c4d5e6f7081',
    reason: 'the log has no such record: tools/runner-audit/test/chain.test.ts asks for some',
  },
  {
    page: 'docs/previews.md',
    reason: 'it installs a package and needs open pull requests: tests/previews has some',
  },
  {
    page: 'docs/commands.md',
    block: 'runner preview enable',
    reason: 'it needs open pull requests: tests/previews has some',
  },
  {
    page: 'docs/commands.md',
    block: 'runner preview open',
    reason: 'it needs open pull requests: tests/previews has some',
  },
  {
    page: 'docs/commands.md',
    block: 'runner preview remove',
    reason: 'it needs open pull requests: tests/previews has some',
  },
  {
    page: 'docs/commands.md',
    block: 'runner preview undo',
    reason: 'it needs open pull requests: tests/previews has some',
  },
  {
    page: 'docs/commands.md',
    block: 'runner preview snippet',
    reason: 'it needs open pull requests: tests/previews has some',
  },
  {
    page: 'docs/commands.md',
    block: 'runner preview sync',
    reason: 'it needs open pull requests: tests/previews has some',
  },
  {
    page: 'docs/commands.md',
    block: 'runner preview disable',
    reason: 'it needs open pull requests: tests/previews has some',
  },
  {
    page: 'docs/bell.md',
    reason: 'it installs a package as root, and listens: the tests of runner-bell call it',
  },
  {
    page: 'docs/dashboard.md',
    block: 'sudo apt-get install',
    reason: 'it installs a package as root, and listens: the tests of runner-dashboard call it',
  },
  {
    page: 'docs/commands.md',
    block: 'runner dashboard --listen',
    reason: 'it listens until it is ended: the tests of runner-dashboard call it',
  },
  {
    page: 'docs/commands.md',
    block: 'runner top --plain',
    reason: 'it prints until it is ended: the tests of runner-top call it',
  },
  {
    page: 'docs/commands.md',
    line: 'runner top',
    reason: 'it is shown until it is ended: the tests of runner-top call it',
  },
  {
    page: 'docs/commands.md',
    block: 'runner bell --listen',
    reason: 'it listens until it is ended: the tests of runner-bell call it',
  },
  {
    page: 'docs/commands.md',
    block: 'while runner bell wait',
    reason: 'it waits until it is ended: the tests of runner-bell call it',
  },
  {
    page: 'docs/commands.md',
    block: 'sudo runner bell add',
    reason: 'it needs the package of the bell: the tests of runner-bell call it',
  },
  {
    page: 'docs/commands.md',
    block: 'runner backup --to shop-server.age',
    reason: 'it needs a key of age and another machine: tools/runner-restore/test makes backups',
  },
  {
    page: 'docs/commands.md',
    block: 'runner restore shop-server.age',
    reason: 'it needs an empty server: tools/runner-restore/test restores',
  },
  {
    page: 'docs/commands.md',
    line: 'runner add acme/api --app-id 12345 --app-key-file app.pem',
    reason: 'there is no such App: tests/deploys/github-app.long.test.ts adds one',
  },
  {
    page: 'docs/commands.md',
    line: 'runner add https://github.com/acme/site --public',
    reason:
      'it asks GitHub for the default branch: tools/runner-add/test/address.test.ts asks a host',
  },
  {
    page: 'docs/fleet.md',
    reason: 'it needs several servers, SSH and a broker: tests/fleet has them',
  },
  {
    page: 'docs/commands.md',
    block: 'source <(runner completion zsh)',
    reason: 'each line is for another shell; the tests of completion run them in all three',
  },
  {
    page: 'docs/commands.md',
    block: 'runner env set shop DATABASE_URL',
    reason:
      'it prompts on a terminal: tests/deploys/app-secrets.long.test.ts sets values in every way',
  },
  {
    page: 'docs/commands.md',
    line: 'runner env import shop < .env',
    reason: 'there is no such file: tests/deploys/app-secrets.long.test.ts imports one',
  },
  {
    page: 'docs/commands.md',
    line: 'runner env unset shop OLD_API_KEY',
    reason: 'the app has no such secret: tests/deploys/app-secrets.long.test.ts removes some',
  },
  {
    page: 'docs/history.md',
    block: '/var/www/html',
    reason: 'it writes into the folder of a web server: tools/runner-report/test writes pages',
  },
  {
    page: 'docs/secrets.md',
    block: 'runner env set shop DATABASE_URL',
    reason:
      'it prompts on a terminal: tests/deploys/app-secrets.long.test.ts sets values in every way',
  },
  {
    page: 'docs/commands.md',
    line: 'runner debug log shop --deploy a1b2c3d4',
    reason: 'the id of a deploy is never the same; the tests of debug log choose one by its id',
  },
  {
    page: 'docs/commands.md',
    block: 'runner doctor --offline --json',
    reason:
      'its app does not run, so the status is 1: the session of runner doctor in docs/commands.md shows it',
  },
  {
    page: 'docs/commands.md',
    line: 'runner status --check',
    reason:
      'its app does not run, so the status is 1: tests/deploys/states.test.ts tries every state',
  },
  {
    page: 'docs/commands.md',
    line: 'runner notify setup',
    reason: 'setup asks on a terminal; the tests of notify type the answers',
  },
  {
    page: 'docs/commands.md',
    line: '* * * * * root runner notify flush',
    reason: 'a line for cron, not for a shell',
  },
  {
    page: 'docs/commands.md',
    line: 'runner notify queue show mib0k3v1c-9f2e',
    reason: 'the id of a message is never the same; the tests of queue show one by its id',
  },
  {
    page: 'docs/examples.md',
    block: 'runner audit tail -f',
    reason: 'it follows the log and never ends; tail -f has tests of its own',
  },
  {
    page: 'docs/deploy-file.md',
    block: 'sudo -u runner install -d',
    reason: 'it needs sudo and an npm login; the tests of HOME make the same files',
  },
  {
    page: 'docs/moving.md',
    reason: 'it needs two servers: npm run test:system -- production runs it in booted systems',
  },
  {
    page: 'docs/production.md',
    reason:
      'it installs packages as root: npm run test:system -- production runs it in a booted system',
  },
  {
    page: 'docs/commands.md',
    block: 'runner setup shop --deploy-file',
    reason: 'it changes the server as root: tools/runner-setup/test and npm run test:system do it',
  },
  {
    page: 'docs/install.md',
    reason: 'it installs packages and units as root: npm run test:system does, in a booted system',
  },
  {
    page: 'docs/notifications.md',
    block: 'runner notify setup      # asks',
    reason: 'setup asks on a terminal; the tests of notify type the answers',
  },
  {
    page: 'docs/notifications.md',
    block: '--channel webhook',
    reason: 'it needs a receiver: tools/runner-notify/test/setup-sections.test.ts has one',
  },
  {
    page: 'docs/commands.md',
    line: 'crontab -l | runner import crontab - --app shop',
    reason: 'it reads the crontab of the user: tools/runner-import/test reads others',
  },
  {
    page: 'docs/from-pm2.md',
    block: 'sudo runner deploy shop --check',
    reason: 'it needs sudo, a server and the app there; the import above it is run',
  },
  {
    page: 'docs/from-kamal.md',
    block: 'sudo runner deploy shop --check',
    reason: 'it needs sudo, a server and the app there; the import above it is run',
  },
  {
    page: 'docs/from-capistrano.md',
    block: 'sudo runner deploy shop --check',
    reason: 'it needs sudo, a server and the app there; the import above it is run',
  },
  {
    page: 'docs/from-heroku.md',
    block: 'sudo runner deploy shop --check',
    reason: 'it needs sudo, a server and the app there; the import above it is run',
  },
  {
    page: 'docs/operating.md',
    block: 'age-keygen -o runner-key.txt',
    reason: 'it needs age: tools/runner-restore/test/restore.long.test.ts makes keys and backups',
  },
  {
    page: 'docs/operating.md',
    block: 'sudo runner backup --to -',
    reason:
      'it needs another machine: tools/runner-restore/test/restore.long.test.ts makes backups',
  },
  {
    page: 'docs/sandbox.md',
    block: 'sudo apt-get install bubblewrap',
    reason: 'it installs a package; tests/sandbox tries to escape',
  },
  {
    page: 'docs/errors.md',
    line: 'runner doctor --offline         # permissions, keys, disk, programs, dead deploys',
    reason:
      'its app does not run, so the status is 1: the session of runner doctor in docs/commands.md shows it',
  },
  {
    page: 'docs/commands.md',
    line: 'runner verify shop --last 200',
    reason: 'it needs a list of keys that belongs to root: tests/signed has one',
  },
  {
    page: 'docs/commands.md',
    line: 'runner verify shop.json --key server.pub --tree ./copy',
    reason: 'it needs a copy of a release: tests/signed/verify.test.ts makes one',
  },
  {
    page: 'docs/verify.md',
    line: 'runner verify shop.json --key server.pub --tree ./copy      # a copy of the release, as of cp -a',
    reason: 'it needs a copy of a release: tests/signed/verify.test.ts makes one',
  },
  {
    page: 'docs/verify.md',
    block: 'dist/server.js has changed',
    reason:
      'it shows a release and a unit that were changed: tests/signed/verify.test.ts changes them',
  },
  {
    page: 'docs/why-it-failed.md',
    block: '$ runner why shop',
    reason:
      'the shop of the documentation is stopped, which comes first: tools/runner-why/test has one that runs',
  },
];
