/**
 * Many writers of messages that are edited in place, killed at random moments: `send` with records of
 * its own, and deploys. Their services are stand-ins without rates, and their clock runs faster, so that
 * the rates of Telegram take no hours.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Discord, startDiscord } from '@runner/testing/discord';
import { startGitServer } from '@runner/testing/git-server';
import { runKilled } from '@runner/testing/killing';
import { distFolder, run } from '@runner/testing/run';
import { startTelegram, type Telegram } from '@runner/testing/telegram';
import { temporaryFolder } from '@runner/testing/temp';
import { TOKEN } from './world.ts';

const SPEED = 60;
const CHANNELS = ['telegram', 'discord'] as const;
type Channel = (typeof CHANNELS)[number];

/** How many kills, and by how many writers of each kind at once. */
export interface Size {
  readonly kills: number;
  readonly senders: number;
  readonly deployers: number;
}

/** What came of it: a sentence for each message that is wrong. */
export interface Storm {
  readonly kills: { send: number; deploy: number };
  readonly deploys: number;
  readonly wrong: string[];
}

/** A copy of the executables in which the time of `runner-notify` runs faster. */
function fastExecutables(): string {
  const dist = join(temporaryFolder('dist'), 'dist');
  cpSync(distFolder(), dist, { recursive: true });
  const program = join(dist, 'bin/runner-notify');
  const clock = `{ const Real = Date; const at = ${Date.now()};
// It begins in the past: half-written files of others must not look old.
const now = () => at - ${SPEED} * 600_000 + (Real.now() - at) * ${SPEED};
globalThis.Date = class extends Real {
  constructor(...args) { if (args.length > 0) super(...args); else super(now()); }
  static now() { return now(); }
};
const timers = require('node:timers/promises');
const wait = timers.setTimeout;
timers.setTimeout = (ms, ...more) => wait(Math.max(30, ms / ${SPEED}), ...more); }
`;
  const [first, ...rest] = readFileSync(program, 'utf8').split('\n');
  writeFileSync(program, [first, clock, ...rest].join('\n'));
  return dist;
}

/** A message as it is shown now. */
interface Shown {
  readonly title: string;
  readonly text: string;
}

function shownIn(bot: Telegram, hook: Discord): Record<Channel, () => Shown[]> {
  return {
    telegram: () =>
      bot.messages.map(({ text }) => ({ title: text.split('\n')[0]?.slice(2).trim() ?? '', text })),
    discord: () =>
      hook.messages.map(({ content, payload }) => ({
        title: content.split(':')[0]?.slice(2).trim() ?? '',
        text: JSON.stringify(payload),
      })),
  };
}

const TITLES: Readonly<Record<string, string>> = {
  DeployStarted: 'Deploy started',
  DeploySuccess: 'Deploy completed',
  DeployFailure: 'Deploy failed',
  RollbackSuccess: 'Rollback',
};

/** Resolves what came of `kills` kills. */
export async function stormOf({ kills, senders, deployers }: Size): Promise<Storm> {
  process.env.RUNNER_DIST = fastExecutables();
  const root = join(temporaryFolder('root'), 'root');
  mkdirSync(join(root, 'spool/notify'), { recursive: true, mode: 0o700 });
  const chat = { id: -1001234567890, type: 'supergroup', title: 'Deploys' } as const;
  const token = '123456789:AAE-bOwk6ad9r_QXMENQjcrGbqCr4Kbotte';
  const [bot, hook, git] = await Promise.all([
    startTelegram({ token, chats: [chat] }),
    startDiscord(),
    startGitServer({ token: TOKEN }),
  ]);
  const config = `code_host_git_url: ${git.url}
retry_after: [0s]
max_deploy_retries: 0
notify:
  telegram_bot_token: "${token}"
  telegram_chat_id: ${chat.id}
  telegram_api_url: ${bot.url}
  discord_webhook: ${hook.webhook}
  edit: true
`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  const shown = shownIn(bot, hook);
  const killed = { send: 0, deploy: 0 };
  const isOver = () => killed.send + killed.deploy >= kills;
  const wrong: string[] = [];

  const waiting = (): { channel: string; event: Record<string, unknown> }[] => {
    const folder = join(root, 'spool/notify');
    // Not what a killed writer had not finished.
    const names = readdirSync(folder).filter((name) => /^\d/.test(name));
    return names.flatMap((name) => {
      try {
        const entry = JSON.parse(readFileSync(join(folder, name), 'utf8'));
        return entry.event ? [entry] : [];
      } catch {
        return [];
      }
    });
  };
  /** Whether a channel has the record: in its queue, or shown. In this order: it moves from one to the other. */
  const hasTaken = (channel: Channel, kind: string, id: string) =>
    waiting().some(
      ({ channel: its, event }) =>
        its === channel && event.deploy_id === id && event.event_type === kind,
    ) ||
    shown[channel]().some(
      ({ title, text }) =>
        text.includes(id) && (kind === 'DeployStarted' || title === TITLES[kind]),
    );

  /** Sends until both channels have the record, like a caller that tries again after a crash. */
  async function deliver(record: Record<string, unknown>): Promise<void> {
    const { event_type: kind, deploy_id: id } = record as { event_type: string; deploy_id: string };
    for (let open: readonly Channel[] = CHANNELS; open.length > 0; ) {
      const args = ['send', '--channel', open.join(','), '--wait', '60'];
      const send = { tool: 'runner-notify', args, stdin: `${JSON.stringify(record)}\n` };
      const ms = isOver() ? 600_000 : 60 + Math.random() * 900;
      const { signal, status, stderr } = await runKilled(send, { ms }, root);
      if (signal === 'SIGKILL') killed.send += 1;
      else if (status !== 0) wrong.push(`send ended with ${status}: ${stderr}`);
      open = open.filter((channel) => !hasTaken(channel, kind, id));
    }
  }

  const sent: { id: string; kinds: string[] }[] = [];
  async function sender(writer: number): Promise<void> {
    for (let number = 0; !isOver(); number += 1) {
      const id = `${writer.toString(16).padStart(2, '0')}5e${number.toString(16).padStart(4, '0')}`;
      const ends = number % 2 === 0 ? ['DeploySuccess'] : ['DeployFailure', 'RollbackSuccess'];
      const kinds = ['DeployStarted', ...ends];
      sent.push({ id, kinds });
      for (const event_type of kinds)
        await deliver({
          timestamp: new Date().toISOString(),
          event_type,
          project: `app${writer}`,
          instance: 'default',
          version: 'v1.3.0',
          previous_version: 'v1.2.9',
          commit: id.repeat(5),
          deploy_id: id,
          error: 'boom',
        });
    }
  }

  async function deployer(writer: number): Promise<void> {
    const [app, repo] = [`site${writer}`, `acme/site${writer}`];
    await git.createRepo(repo);
    await git.commit(repo, { 'a.txt': '0', '.deploy.yml': 'notify: {}\n' }, 'v0');
    const add = ['--repo', repo, '--branch', 'main', '--token', '-'];
    const added = await run('runner-add', add, { root, stdin: TOKEN });
    if (added.status !== 0) throw new Error(added.stderr);
    for (let number = 1; !isOver(); number += 1) {
      const build = number % 3 === 0 ? 'build: exit 1\n' : 'build: sleep 0.2\n';
      const files = { 'a.txt': String(number), '.deploy.yml': `notify: {}\n${build}` };
      await git.commit(repo, files, `v${number}`);
      for (let again = true; again; ) {
        const ms = isOver() ? 600_000 : 100 + Math.random() * 2_500;
        const ended = await runKilled({ tool: 'runner-deploy', args: [app] }, { ms }, root);
        again = ended.signal === 'SIGKILL';
        if (again) killed.deploy += 1;
      }
    }
    // The last kill may have left something to report.
    await run('runner-deploy', [app], { root });
  }

  await Promise.all([
    ...Array.from({ length: senders }, (_, writer) => sender(writer)),
    ...Array.from({ length: deployers }, (_, writer) => deployer(writer)),
  ]);
  let last = '';
  for (let pass = 0; waiting().length > 0 && pass < 100; pass += 1)
    last = (await run('runner-notify', ['flush'], { root })).stderr;
  wrong.push(...waiting().map((entry) => `still waits: ${JSON.stringify(entry)}, ${last}`));
  const records = readFileSync(join(root, 'logs/deploy-events.jsonl'), 'utf8').trim().split('\n');
  const deployed = new Map<string, string[]>();
  for (const line of deployers > 0 ? records : []) {
    const { deploy_id: id, event_type: kind } = JSON.parse(line);
    deployed.set(id, [...(deployed.get(id) ?? []), kind]);
  }
  for (const channel of CHANNELS) {
    const all = shown[channel]();
    wrong.push(
      ...sent.flatMap(({ id, kinds }) => problemsOf(channel, id, kinds, all)),
      ...[...deployed].flatMap(([id, kinds]) => attemptProblems(channel, id, kinds, all)),
    );
  }
  await Promise.all([bot.close(), hook.close(), git.close()]);
  return { kills: killed, deploys: sent.length + deployed.size, wrong };
}

/** A deploy is one message that shows its end, and a reply if it failed, after it. */
function problemsOf(channel: Channel, id: string, kinds: readonly string[], all: readonly Shown[]) {
  const titles = all.filter(({ text }) => text.includes(id)).map(({ title }) => title);
  const end = TITLES[kinds.at(-1) ?? ''] ?? '';
  const wanted = kinds.includes('DeployFailure') ? [end, 'Deploy failed'] : [end];
  return titles.join() === wanted.join()
    ? []
    : [`${channel}: ${id} is ${titles.join(', ') || 'nowhere'}, not ${wanted.join(', ')}`];
}

/** Attempts of one commit share a message: the last one shows it, each failure has a reply of its own. */
function attemptProblems(
  channel: Channel,
  id: string,
  kinds: readonly string[],
  all: readonly Shown[],
) {
  const titles = all.filter(({ text }) => text.includes(id)).map(({ title }) => title);
  const found: string[] = [];
  const count = (title: string) => titles.filter((each) => each === title).length;
  if (kinds.includes('DeploySuccess') && count('Deploy completed') !== 1)
    found.push(`${channel}: the success of ${id} is shown ${count('Deploy completed')} times`);
  // The edited message and the reply, of which another attempt may have taken the first.
  if (kinds.includes('DeployFailure') && ![1, 2].includes(count('Deploy failed')))
    found.push(`${channel}: the failure of ${id} is shown ${count('Deploy failed')} times`);
  if (titles.length > 2 || titles.includes('Deploy started'))
    found.push(`${channel}: ${id} is ${titles.join(', ')} after ${kinds.join(', ')}`);
  return found;
}
