/** What of the documentation's commands a test cannot run, each with its reason. */

/** A page or section of it, block or line that is not run. */
export interface NotRun {
  readonly page: string;
  /** Text that one block of the page holds: the block is left out. */
  readonly block?: string;
  /** A line of one block: the line alone is left out. Without block and line it is the page, or section. */
  readonly line?: string;
  readonly reason: string;
}

/** Below each page, or section, what of it is left out: a block that holds the text, a line, or the whole page. */
const TABLE = `
README.md
  block npm run demo  => the demo is played by tests/docs/pictures.long.test.ts; the tests cannot run the tests
  block npm run package => it installs a package as root: npm run test:system does, in a booted system
  block npm run build => the build makes what the tests run, and cannot change under them
docs/approvals.md#agents
  block apt install => it installs a package as root
  block ssh -i => tools/runner-mcp/test/ssh.long.test.ts does it with an sshd of its own
docs/contributing.md
  block npm run bench -- extract tinpack-seam => libs/extract/test/adding-a-rule.test.ts follows it in a copy of the extractor
  block npm run bench -- extract --faults => it runs the tests of the checkout, and the tests cannot run the tests
docs/code-hosts.md
  page => it needs the hosts: tests/deploys/code-hosts, github-app and require-checks follow it with stand-ins
docs/audit-log.md
  line runner audit tail -f --json | jq .version               # live, through rotations => it follows the log and never ends; tail -f has tests of its own
  block runner audit anchor  => the log has no such record: tools/runner-audit/test/chain.test.ts asks for some
docs/commands.md
  block runner plan contract shop => the shop of the documentation has no contract: tests/database plans some
  block runner apply p-1a2b3c4d => there is no such plan: tests/approvals makes some
  block runner approve p-1a2b3c4d => there is no such plan: tests/approvals makes some
  line runner waker => it listens until it is ended: tests/traffic/sleep.test.ts calls it
  block runner mcp --grant claude => there is no such grant: the tests of runner-mcp have some
  block -f KEY > approval.sig => there is no such plan: tests/approvals makes some
  block sudo runner grant => it writes to /etc/runner: tests/approvals/grants.test.ts has another folder
  block runner hold-traffic shop => the shop of the documentation has no traffic: tests/traffic/hold.test.ts holds some
  line runner jobs run shop nightly => the shop of the documentation has no jobs: tests/jobs runs some
  line runner jobs shop nightly => the shop of the documentation has no jobs: tests/jobs runs some
  line runner watch shop --proxy nginx => the shop of the documentation has no canary: tests/traffic/canary prints it
  line runner jobs log shop nightly => the shop of the documentation has no jobs: tests/jobs runs some
  block runner jobs pause shop nightly => the shop of the documentation has no jobs: tests/jobs runs some
  block runner jobs resume shop nightly => the shop of the documentation has no jobs: tests/jobs runs some
  line runner edit shop --require-signed strict => it needs a list of keys that belongs to root: tests/signed has one
  block runner init --no-prove => it needs a checkout: the page deploy-file.md and tools/runner-init/test have some
  line runner audit verify --anchor 4711:1a2b3c4d5e6f70819a2b3c4d5e6f7081 => the log has no such record: tools/runner-audit/test/chain.test.ts asks for some
  block runner preview enable => it needs open pull requests: tests/previews has some
  block runner preview open => it needs open pull requests: tests/previews has some
  block runner preview remove => it needs open pull requests: tests/previews has some
  block runner preview undo => it needs open pull requests: tests/previews has some
  block runner preview snippet => it needs open pull requests: tests/previews has some
  block runner preview sync => it needs open pull requests: tests/previews has some
  block runner preview disable => it needs open pull requests: tests/previews has some
  block runner dashboard --listen => it listens until it is ended: the tests of runner-dashboard call it
  block runner top --plain => it prints until it is ended: the tests of runner-top call it
  line runner top => it is shown until it is ended: the tests of runner-top call it
  block runner bell --listen => it listens until it is ended: the tests of runner-bell call it
  block while runner bell wait => it waits until it is ended: the tests of runner-bell call it
  block sudo runner bell add => it needs the package of the bell: the tests of runner-bell call it
  block runner backup --to shop-server.age => it needs a key of age and another machine: tools/runner-restore/test makes backups
  block runner restore shop-server.age => it needs an empty server: tools/runner-restore/test restores
  line runner add acme/api --app-id 12345 --app-key-file app.pem => there is no such App: tests/deploys/github-app.long.test.ts adds one
  line runner add https://github.com/acme/site --public => it asks GitHub for the default branch: tools/runner-add/test/address.test.ts asks a host
  block source <(runner completion zsh) => each line is for another shell; the tests of completion run them in all three
  block runner env set shop DATABASE_URL => it prompts on a terminal: tests/deploys/app-secrets.long.test.ts sets values in every way
  line runner env import shop < .env => there is no such file: tests/deploys/app-secrets.long.test.ts imports one
  line runner env unset shop OLD_API_KEY => the app has no such secret: tests/deploys/app-secrets.long.test.ts removes some
  line runner debug log shop --deploy a1b2c3d4 => the id of a deploy is never the same; the tests of debug log choose one by its id
  block runner doctor --offline --json => its app does not run, so the status is 1: the session of runner doctor in docs/commands.md shows it
  line runner status --check => its app does not run, so the status is 1: tests/deploys/states.test.ts tries every state
  line runner notify setup => setup asks on a terminal; the tests of notify type the answers
  line * * * * * root runner notify flush => a line for cron, not for a shell
  line runner notify queue show mib0k3v1c-9f2e => the id of a message is never the same; the tests of queue show one by its id
  block runner setup shop --deploy-file => it changes the server as root: tools/runner-setup/test and npm run test:system do it
  line crontab -l | runner import crontab - --app shop => it reads the crontab of the user: tools/runner-import/test reads others
  line runner verify shop --last 200 => it needs a list of keys that belongs to root: tests/signed has one
  line runner verify shop.json --key server.pub --tree ./copy => it needs a copy of a release: tests/signed/verify.test.ts makes one
docs/watching.md
  line runner watch shop --proxy nginx    # or caddy, haproxy: prints what the site needs => the shop of the documentation has no canary: tests/traffic/canary prints it
docs/database.md
  block exec flyway migrate => a file of the app, which needs Flyway and a PostgreSQL
  block psql -X => a file of the app, which needs a PostgreSQL
  block runner deploy shop --migrated => no migration of the shop was killed: tests/database kills some
  block runner rollback shop --to v41 --database => the shop of the documentation has no database: tests/database restores some
docs/signed-commits.md
  page => it needs root, keys and signed commits: tests/signed follows it
docs/jobs.md
  page => the shop of the documentation has no jobs: tests/jobs runs some
docs/previews.md
  page => it installs a package and needs open pull requests: tests/previews has some
docs/following.md#the-bell
  page => it installs a package as root, and listens: the tests of runner-bell call it
docs/dashboard.md
  block sudo apt-get install => it installs a package as root, and listens: the tests of runner-dashboard call it
docs/fleet.md
  page => it needs several servers, SSH and a broker: tests/fleet has them
docs/history.md
  block /var/www/html => it writes into the folder of a web server: tools/runner-report/test writes pages
docs/secrets.md
  block runner env set shop DATABASE_URL => it prompts on a terminal: tests/deploys/app-secrets.long.test.ts sets values in every way
docs/examples.md
  block runner audit tail -f => it follows the log and never ends; tail -f has tests of its own
docs/deploy-file.md
  block sudo -u runner install -d => it needs sudo and an npm login; the tests of HOME make the same files
docs/operating.md#move-to-another-server
  page => it needs two servers: npm run test:system -- production runs it in booted systems
docs/production.md
  page => it installs packages as root: npm run test:system -- production runs it in a booted system
docs/install.md
  page => it installs packages and units as root: npm run test:system does, in a booted system
docs/notifications.md
  block runner notify setup      # asks => setup asks on a terminal; the tests of notify type the answers
  block --channel webhook => it needs a receiver: tools/runner-notify/test/setup-sections.test.ts has one
docs/switching.md#pm2
  block sudo runner deploy shop --check => it needs sudo, a server and the app there; the import above it is run
docs/switching.md#kamal
  block sudo runner deploy shop --check => it needs sudo, a server and the app there; the import above it is run
docs/switching.md#capistrano
  block sudo runner deploy shop --check => it needs sudo, a server and the app there; the import above it is run
docs/switching.md#heroku-dokku-or-a-procfile
  block sudo runner deploy shop --check => it needs sudo, a server and the app there; the import above it is run
docs/operating.md
  block age-keygen -o runner-key.txt => it needs age: tools/runner-restore/test/restore.long.test.ts makes keys and backups
  block sudo runner backup --to - => it needs another machine: tools/runner-restore/test/restore.long.test.ts makes backups
docs/sandbox.md
  block sudo apt-get install bubblewrap => it installs a package; tests/sandbox tries to escape
docs/errors.md
  line runner doctor --offline         # permissions, keys, disk, programs, dead deploys => its app does not run, so the status is 1: the session of runner doctor in docs/commands.md shows it
docs/signed-commits.md#is-it-what-was-deployed
  line runner verify shop.json --key server.pub --tree ./copy      # a copy of the release, as of cp -a => it needs a copy of a release: tests/signed/verify.test.ts makes one
  block dist/server.js has changed => it shows a release and a unit that were changed: tests/signed/verify.test.ts changes them
docs/errors.md#why-did-it-fail
  block $ runner why shop => the shop of the documentation is stopped, which comes first: tools/runner-why/test has one that runs
`;

function* rows(): Generator<NotRun> {
  let page = '';
  for (const row of TABLE.trim().split('\n')) {
    const [, kind, text = '', reason = ''] =
      /^ {2}(page|block|line) (.*?) ?=> (.*)$/.exec(row) ?? [];
    if (kind === undefined) page = row;
    else yield { page, ...(kind !== 'page' && { [kind]: text }), reason };
  }
}

/** In the order of the pages. */
export const NOT_RUN: readonly NotRun[] = [...rows()];
