/**
 * `npm run bench -- peers`: our commands beside what a person would pick instead, on the same job in
 * the same run. The first row of a table is ours; a ratio above 1 is a peer that takes longer. What is
 * not installed is left out, and said. `--rounds N` (default 9).
 */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { executable } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { STEADY, writeLog } from './harness/audit-log.ts';
import { type Contestant, compare, printTable } from './harness/measure.ts';
import { makeRoot } from './harness/root.ts';
import { besideServices, serveGit, serveYes, TOKEN } from './harness/services.ts';
import { printSetting, roundsWanted } from './harness/setting.ts';

const APPS = 10;
const MEGABYTES = 100;
const rounds = roundsWanted(9);
const RUNNER = executable('runner');

interface Peer {
  readonly name: string;
  /** Programs without which it is left out. */
  readonly needs: readonly string[];
  /** Run by `sh -c`. */
  readonly script: string;
  readonly env?: Readonly<Record<string, string>>;
}

const isThere = (program: string): boolean =>
  spawnSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', program]).status === 0;

function ours(name: string, script: string, root: string): Peer {
  return { name, needs: [], script, env: { RUNNER_ROOT: root } };
}

/** Measures one job: ours first. */
function job(title: string, own: Peer, others: readonly Peer[], times = rounds): void {
  const missing = (peer: Peer) => peer.needs.filter((program) => !isThere(program));
  const contestant = ({ name, script, env }: Peer): Contestant => ({
    name,
    file: '/bin/sh',
    args: ['-c', script],
    ...(env && { env }),
    strict: true,
  });
  const there = others.filter((peer) => missing(peer).length === 0);
  printTable(title, compare([contestant(own), ...there.map(contestant)], times));
  for (const peer of others) {
    const [program] = missing(peer);
    if (program) process.stdout.write(`\nLeft out: ${peer.name}; ${program} is not installed.\n`);
  }
}

function newestFailure(root: string): void {
  const log = join(root, 'logs/deploy-events.jsonl');
  job(
    `The newest failure of an app, in a log of ${MEGABYTES} MB`,
    ours('runner debug last-error', `${RUNNER} debug last-error app0`, root),
    [
      {
        name: 'tac, grep -m1, jq',
        needs: ['tac', 'jq'],
        script: `tac ${log} | grep -m1 'DeployFailure.*"project":"app0"' | jq -r .error`,
      },
      {
        name: 'jq',
        needs: ['jq'],
        script: `jq -c 'select(.event_type == "DeployFailure" and .project == "app0")' ${log} | tail -n 1`,
      },
    ],
    Math.ceil(rounds / 2),
  );
  job(
    `All events of an app, in a log of ${MEGABYTES} MB`,
    ours('runner audit list', `${RUNNER} audit list --json --project ${STEADY}`, root),
    [{ name: 'jq', needs: ['jq'], script: `jq -c 'select(.project == "${STEADY}")' ${log}` }],
    Math.ceil(rounds / 2),
  );
}

/** Every round begins with an empty spool, which remembers the rates of the service. */
function announcing(root: string, http: string): void {
  const event =
    '{"event_type":"DeployStarted","project":"shop","version":"v1","deploy_id":"a1b2c3d4"}';
  const send = `rm -rf "$RUNNER_ROOT/spool"; echo '${event}' | ${RUNNER} notify send`;
  job('One message to a chat', ours('runner notify send', send, root), [
    {
      name: 'curl: sent once, or lost',
      needs: ['curl'],
      script: `curl -sS -H 'content-type: application/json' -d '{"content":"deploy of shop v1 started"}' ${http}/api/webhooks/1/x`,
    },
    {
      name: 'apprise: sent once, or lost',
      needs: ['apprise'],
      script: `apprise -b 'deploy of shop v1 started' json://${http.slice('http://'.length)}/`,
    },
  ]);
}

function asking(root: string, http: string): void {
  const own = ours('runner tokens test', `${RUNNER} tokens test app0`, root);
  job('Whose token it is', { ...own, env: { ...own.env, RUNNER_CODE_HOST_API_URL: http } }, [
    {
      name: 'curl, the token in its arguments',
      needs: ['curl'],
      script: `curl -sS -i -H 'authorization: Bearer ${TOKEN}' ${http}/user`,
    },
    {
      name: 'gh api',
      needs: ['gh'],
      script: `gh api ${http}/user`,
      env: { GH_TOKEN: TOKEN, GH_CONFIG_DIR: temporaryFolder('gh'), GH_NO_UPDATE_NOTIFIER: '1' },
    },
  ]);
}

/** pm2 keeps as many processes as we list apps; its daemon runs already, as it would on a server. */
function listing(root: string): void {
  const home = temporaryFolder('pm2');
  const env = { PM2_HOME: home, NO_COLOR: '1' };
  const pm2 = (args: readonly string[]) =>
    spawnSync('pm2', [...args], { env: { ...process.env, ...env }, stdio: 'ignore' });
  if (isThere('pm2')) {
    const apps = Array.from({ length: APPS }, (_, number) => ({
      name: `app${number}`,
      script: '/bin/sleep',
      interpreter: 'none',
      args: '3600',
    }));
    writeFileSync(join(home, 'apps.json'), JSON.stringify({ apps }));
    pm2(['start', join(home, 'apps.json')]);
  }
  job(`What runs of ${APPS} apps`, ours('runner list', `${RUNNER} list --json`, root), [
    { name: 'pm2 jlist', needs: ['pm2'], script: 'pm2 jlist', env },
  ]);
  if (isThere('pm2')) pm2(['kill']);
}

/** The first deploy is over when this is measured; both leave one release and switch a link. */
function deploying(root: string, git: string): void {
  const where = temporaryFolder('bench');
  const script = `set -e; cd ${where}; new=release-$$; git clone -q --depth 1 ${git}/acme/small.git $new
old=$(readlink current || true); ln -sfn $new current; rm -rf "$old"`;
  const env = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  job(
    'A deploy of a small repository, nothing to build or start',
    ours('runner deploy', `${RUNNER} deploy app0`, root),
    [
      {
        name: 'git clone, ln -sfn: no lock, log, check, record or way back',
        needs: ['git'],
        script,
        env,
      },
    ],
  );
  process.stdout.write(
    '\nCapistrano and Deployer are left out: both deploy to another machine over ssh, which is most of their time.\n',
  );
}

async function measure([git = '', http = '']: readonly string[]): Promise<void> {
  const config = `code_host_git_url: ${git}\nnotify:\n  discord_webhook: ${http}/api/webhooks/123456789012345678/abcdef\n`;
  const root = await makeRoot(config, 'acme/small', APPS, () => TOKEN);
  printSetting('Beside others', rounds);
  deploying(root, git);
  listing(root);
  asking(root, http);
  announcing(root, http);
  rmSync(join(root, 'logs'), { recursive: true, force: true });
  writeLog(root, MEGABYTES);
  newestFailure(root);
}

void besideServices(async () => [(await serveGit()).url, await serveYes()], measure);
