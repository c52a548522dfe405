/**
 * A server for the commands of a page: the paths of the documentation lie in a folder of its own,
 * github.com and the chats are stand-ins on loopback, `you` has pushed apps there before.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort, killApp } from '@runner/testing/app';
import { atExit } from '@runner/testing/cleanup';
import { CHAT_ID, type Hosts, startHosts } from '@runner/testing/hosts';
import { type Ended, run, shell } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { makeRepos } from './repos.ts';

/** The token of every app of the documentation. */
const TOKEN = 'ghp_docs0docs0docs0docs0docs0docs0docs0';
const BOT_TOKEN = '123456789:AAdocs_docs_docs_docs_docs_docs_docs';
/** The port that the pages write; in a world it is another one. */
const PORT = /\b3000\b/g;
/** Folders of the documentation that lie elsewhere in a world. */
const ELSEWHERE = /(?<![\w./~$}-])\/(?=(?:opt\/runner|srv|backup|elsewhere|root)\b)/g;

/** What a page's commands find. */
export interface World {
  /** The folder that stands for `/`. */
  readonly base: string;
  /** Runs a script as typed on the server, in the folder and with the exports of the one before. */
  type(script: string, stdin?: string): Promise<Ended>;
  /** A text of a world in the words of the documentation. */
  inWordsOfPages(text: string): string;
  readonly token: string;
  close(): Promise<void>;
}

/** Where the hosts answer whose names stand in the documentation. */
const envOf = ({ git, codeHost, telegram }: Hosts) => ({
  RUNNER_CODE_HOST_API_URL: codeHost.apiUrl,
  RUNNER_CODE_HOST_GIT_URL: git.url,
  RUNNER_TELEGRAM_API_URL: telegram.url,
});

function config({ discord }: Hosts): string {
  return `notify:
  telegram_bot_token: "${BOT_TOKEN}"
  telegram_chat_id: "${CHAT_ID}"
  discord_webhook: ${discord.webhook}
`;
}

/** What is made once and copied into every world. */
interface Template {
  readonly root: string;
  /** The git host's folder. */
  readonly repos: string;
}

const reposOf = ({ git }: Hosts) => dirname(dirname(git.path('acme/shop')));
const asItIs = { recursive: true, verbatimSymlinks: true };

/** A root with two apps: shop runs v1.1.0 and failed to build v1.2.0, blog has one version. v1.3.0 of shop is new. */
async function makeTemplate(port: number): Promise<Template> {
  const root = join(temporaryFolder('docs-template'), 'runner');
  const hosts = await startHosts(TOKEN, BOT_TOKEN);
  const env = envOf(hosts);
  const runner = async (args: readonly string[], wanted: number) => {
    const [tool, ...rest] = args;
    const { status, stdout, stderr } = await run(`runner-${tool}`, rest, {
      root,
      env,
      stdin: TOKEN,
    });
    if (status !== wanted) throw new Error(`${args.join(' ')}: ${status}\n${stdout}${stderr}`);
  };
  await runner(['add', '--repo', 'acme/shop', '--branch', 'main', '--token', '-'], 0);
  await runner(['add', '--repo', 'acme/blog', '--branch', 'main', '--token-from', 'shop'], 0);
  await makeRepos(hosts.git, port, async (repo, tag) => {
    const app = repo.slice('acme/'.length);
    const statuses: Record<string, number> = { 'v1.0.0': 0, v1: 0, 'v1.1.0': 0, 'v1.2.0': 1 };
    const wanted = statuses[tag];
    if (wanted !== undefined) await runner(['deploy', app, '--no-notify'], wanted);
  });
  await runner(['fetch'], 0);
  await hosts.close();
  // The port is for the worlds, in which nothing has died.
  killApp(root, 'shop');
  rmSync(join(root, 'apps/shop/instances/default/run/pid.json'));
  return { root, repos: reposOf(hosts) };
}

let template: Promise<Template> | undefined;
let port: Promise<number> | undefined;

function stopApps(base: string): void {
  for (const root of [
    join(base, 'opt/runner'),
    join(base, 'srv/runner'),
    join(base, 'home/runner'),
  ]) {
    if (!existsSync(join(root, 'apps'))) continue;
    for (const app of readdirSync(join(root, 'apps'))) killApp(root, app);
  }
}

/** What runner import reads. */
const OF_OTHER_TOOLS = [
  ['ecosystem.config.js', "module.exports = { apps: [{ name: 'shop', script: 'server.js' }] };\n"],
  ['Procfile', 'web: node server.js\n'],
  ['config/deploy.yml', 'service: shop\nimage: acme/shop\n'],
  ['config/deploy.rb', "set :application, 'shop'\n"],
  ['config/schedule.rb', "every :hour do\n  rake 'stats'\nend\n"],
  ['config/deploy/production.rb', 'set :keep_releases, 3\n'],
] as const;

/** Lays out the home folder: tokens, logs, events, and a git that reaches the stand-in as github.com. */
function furnish(base: string, hosts: Hosts): void {
  for (const folder of ['opt', 'srv', 'backup', 'elsewhere', 'root', 'home']) {
    mkdirSync(join(base, folder), { mode: 0o755 });
  }
  const secret = { mode: 0o600 };
  for (const name of ['token', 'shop.token', 'new-token', 'gitlab-token']) {
    writeFileSync(join(base, 'home', name), TOKEN, secret);
  }
  writeFileSync(join(base, 'home/good.log'), 'compiled 24 files\n');
  writeFileSync(join(base, 'home/bad.log'), 'compiled 24 files\nKilled\n');
  writeFileSync(join(base, 'home/shop.deploy.yml'), 'keep: 5\n');
  for (const [name, text] of OF_OTHER_TOOLS) {
    mkdirSync(dirname(join(base, 'home', name)), { recursive: true });
    writeFileSync(join(base, 'home', name), text);
  }
  const event = { event_type: 'DeploySuccess', project: 'docs', version: 'v9' };
  writeFileSync(join(base, 'home/events.jsonl'), `${JSON.stringify(event)}\n`);
  writeFileSync(join(base, 'root/bot-token'), BOT_TOKEN, secret);
  writeFileSync(join(base, 'root/webhook'), hosts.discord.webhook, secret);
  const url = hosts.git.url.replace('://', `://x-access-token:${TOKEN}@`);
  const settings = `[user]
  name = Ada
  email = ada@example.org
[url "${url}/"]
  insteadOf = https://github.com/
`;
  writeFileSync(join(base, 'home/.gitconfig'), settings);
}

/** Makes a world; `empty`: nothing is installed or registered, only the hosts are there. */
export async function makeWorld(kind: 'living' | 'empty'): Promise<World> {
  port ??= freePort();
  const here = await port;
  const base = temporaryFolder('docs', '/tmp');
  const hosts = await startHosts(TOKEN, BOT_TOKEN);
  furnish(base, hosts);
  template ??= makeTemplate(here);
  const { root, repos } = await template;
  cpSync(repos, reposOf(hosts), asItIs);
  if (kind === 'living') {
    // cpSync of Node 22 and later gives folders the usual mode.
    execFileSync('cp', ['-a', root, join(base, 'opt/runner')]);
    writeFileSync(join(base, 'opt/runner/config.yml'), config(hosts), { mode: 0o600 });
  }
  const forget = atExit(() => stopApps(base));
  const [exportsFile, folderFile] = [join(base, '.exports'), join(base, '.folder')];
  writeFileSync(exportsFile, '');
  writeFileSync(folderFile, `${join(base, 'home')}\n`);
  const translated = (text: string) =>
    text.replace(ELSEWHERE, `${base}/`).replace(PORT, String(here));
  return {
    base,
    token: TOKEN,
    inWordsOfPages: (text) =>
      text
        .replaceAll(join(base, 'home'), '~')
        .replaceAll(base, '')
        .replaceAll(String(here), '3000'),
    type(script, stdin = '') {
      const folder = readFileSync(folderFile, 'utf8').trim();
      const all = `. ${exportsFile}\ncd "${folder}"\nset -e\n${translated(script)}\nset +e\nexport -p > ${exportsFile}\npwd > ${folderFile}\n`;
      const env = { ...envOf(hosts), HOME: join(base, 'home') };
      return shell(all, { root: join(base, 'opt/runner'), env, stdin });
    },
    async close() {
      stopApps(base);
      forget();
      await hosts.close();
    },
  };
}
