/** A server where every command has something to do, with secrets wherever one may stand. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configFor, type Hosts, startHosts } from '@runner/testing/hosts';
import { type RunOptions, run } from '@runner/testing/run';
import { secretForms } from '@runner/testing/secret-search';
import { temporaryFolder } from '@runner/testing/temp';
import { signingKey } from '../signed/keys.ts';
import {
  BOT_TOKEN,
  contentKeyOf,
  FOREIGN,
  OTHER_BOT,
  OTHER_WEBHOOK,
  type Secrets,
  TOKENS,
  URL_PASSWORD,
} from './known-secrets.ts';

/** A `.deploy.yml` whose every program prints the file; the build ends with `status`. */
const deployFile = (file: string, status = 0) => `build: "cat '${file}' >&2; exit ${status}"
start: { type: command, run: "cat '${file}'; env >/dev/null" }
stop: "cat '${file}'"
health: { cmd: "cat '${file}'", interval: 50ms, within: 60s }
hooks: { pre_build: "cat '${file}'", post_deploy: "cat '${file}'", on_failure: "cat '${file}'" }
notify: {}
jobs: { tidy: { run: "cat '${file}'", cron: '0 0 29 2 *' } }
`;

/** An event as others hand it to `emit` and `send`, with secrets in its error. */
export const eventWith = (error: string, kind = 'DeployFailure') =>
  `${JSON.stringify({
    timestamp: '2026-05-04T09:30:00.000Z',
    event_type: kind,
    project: 'shop',
    instance: 'default',
    version: 'v9',
    deploy_id: 'e5e5e5e5',
    error,
  })}\n`;

/** What a program may have printed with secrets that their shape or place gives away. */
const spilled = () =>
  [TOKENS.classic, TOKENS.fine, TOKENS.gitlab, BOT_TOKEN]
    .map((secret) => `npm ERR! 401 Unauthorized: ${secret} is not allowed`)
    .concat(`fatal: unable to access https://x-access-token:${URL_PASSWORD}@example.org/a.git`)
    .join('\n');

/** The token of the app itself, in every form. */
const inAllForms = (token: string) =>
  secretForms(token)
    .map(({ form, bytes }) => `${form}: ${bytes}\n`)
    .join('');

export interface Stage {
  readonly git: Hosts['git'];
  readonly api: Hosts['codeHost'];
  readonly bot: Hosts['telegram'];
  readonly hook: Hosts['discord'];
  /** A root that `copy` copies; nothing else runs on it. */
  readonly template: string;
  /** Id of a message that waits, and of one that was given up. */
  readonly waiting: string;
  readonly dead: string;
  /** Ids of a plan that waits for an approval, and of one that needs none. */
  readonly plan: string;
  readonly ready: string;
  /** Id of the deploy that failed. */
  readonly failedDeploy: string;
  /** All of them, the keys included. */
  readonly secrets: Secrets;
  /** Standard input for `emit` and `send`, and a log for `extract`. */
  readonly event: string;
  readonly log: string;
  /** The environment that every command gets: more secrets than it needs. */
  readonly env: Readonly<Record<string, string>>;
  /** Files outside the root that hold a secret, by what they are for. */
  readonly files: Readonly<Record<'token' | 'botToken' | 'webhook', string>>;
  /** A copy of the root, to be spoilt. */
  copy(folder?: string): string;
  /** Takes back what was done to the services. */
  heal(): void;
  close(): Promise<void>;
}

async function must(tool: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { status, stdout, stderr } = await run(tool, args, options);
  if (status !== 0) throw new Error(`stage: ${tool} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** Three apps: shop (v2 runs, v1 is kept, v3 failed), blog (ckey, a token without a known shape), site (without a token). */
export async function makeStage(): Promise<Stage> {
  const hosts = await startHosts(TOKENS.classic, BOT_TOKEN);
  const { git, codeHost: api, telegram: bot, discord: hook } = hosts;
  const account = { login: 'octo', scopes: ['repo'] };
  for (const token of Object.values(TOKENS)) {
    git.allow(token);
    api.allow(token, account);
  }
  const outside = temporaryFolder('outside');
  const put = (name: string, text: string) => {
    // A command that has given up root reads them too.
    writeFileSync(join(outside, name), text, { mode: 0o644 });
    return join(outside, name);
  };
  const files = {
    token: put('token', `${TOKENS.gitlab}\n`),
    botToken: put('bot-token', BOT_TOKEN),
    webhook: put('webhook', hook.webhook),
  };
  const printed = (app: string) =>
    put(
      `${app}.printed`,
      `${spilled()}\n${hook.webhook}\n${app === 'site' ? '' : inAllForms(app === 'blog' ? TOKENS.plain : TOKENS.classic)}`,
    );
  const template = join(temporaryFolder('stage'), 'root');
  mkdirSync(template, { mode: 0o755 });
  const signers = put('signers', `ada ${signingKey().line}\n`);
  const keys = `commit_signers: ${signers}\napprovers: ${signers}\n`;
  const config = `${keys}${configFor(hosts, BOT_TOKEN)}`;
  writeFileSync(join(template, 'config.yml'), config, { mode: 0o600 });
  const etc = temporaryFolder('etc');
  const made = { since: '2026-05-04T09:30:00.000Z', by: 'root' };
  const grant = () => {
    const text = { name: 'kept', level: 'propose', apps: ['shop'], key: null, user: null, ...made };
    mkdirSync(join(etc, 'runner/grants'), { recursive: true });
    writeFileSync(join(etc, 'runner/grants/kept.json'), JSON.stringify(text), { mode: 0o644 });
  };
  grant();
  const root = { root: template };
  const add = (repo: string, token: string, ...more: string[]) =>
    must('runner-add', ['--repo', repo, '--branch', 'main', '--token', '-', ...more], {
      ...root,
      stdin: token,
    });
  await add('acme/shop', TOKENS.classic);
  await add('acme/blog', TOKENS.plain, '--ckey');
  await must('runner-add', ['--repo', 'acme/site', '--branch', 'main', '--public'], root);

  for (const name of ['shop', 'blog', 'site']) {
    await git.createRepo(`acme/${name}`, { public: name === 'site' });
    await git.commit(`acme/${name}`, { '.deploy.yml': deployFile(printed(name)) }, 'v1', {
      tag: 'v1',
    });
  }
  const deploy = (app: string) => run('runner-deploy', [app, '--no-notify'], root);
  await must('runner-deploy', ['shop', '--no-notify'], root);
  await must('runner-jobs', ['run', 'shop', 'tidy'], root);
  await git.commit('acme/shop', { VERSION: '2' }, 'v2', { tag: 'v2' });
  await must('runner-deploy', ['shop', '--no-notify'], root);
  await git.commit('acme/shop', { '.deploy.yml': deployFile(printed('shop'), 3) }, 'v3', {
    tag: 'v3',
  });
  if ((await deploy('shop')).status !== 1) throw new Error('stage: the build of v3 did not fail');
  await git.commit('acme/shop', { '.deploy.yml': deployFile(printed('shop')) }, 'v4', {
    tag: 'v4',
  });

  await git.commit(
    'acme/site',
    { '.deploy.yml': `start: { type: "${TOKENS.fine}" }\nbuild: { ${TOKENS.classic}: 1 }\n` },
    'broken',
    { branch: 'broken' },
  );

  // One message waits for a service in trouble, one was refused for good.
  bot.fail({ status: 500, body: { ok: false, error_code: 500, description: 'x' } }, 9);
  hook.fail({ status: 400, body: { message: `no: ${hook.webhook}`, code: 50006 } });
  const event = eventWith(spilled());
  await must('runner-notify', ['send', '--channel', 'both', '--wait', '1'], {
    ...root,
    stdin: event,
  });
  bot.heal();
  hook.heal();
  const queued = JSON.parse(await must('runner-notify', ['queue', 'list', '--json'], root));
  const idOf = (channel: string) =>
    String(queued.messages.find((each: { channel: string }) => each.channel === channel)?.id);

  const planned = async (args: readonly string[], env: Record<string, string> = {}) =>
    JSON.parse(
      await must('runner-plan', [...args, 'shop', '--for', '30d', '--no-notify', '--json'], {
        ...root,
        env,
      }),
    ).id;
  const [plan, ready] = [
    // What an agent plans needs an approval.
    await planned(['stop'], { RUNNER_ETC: etc, RUNNER_GRANT: 'kept' }),
    await planned(['start']),
  ];
  const key = readFileSync(join(template, 'mkey'), 'utf8').trim();
  const sealed = JSON.parse(readFileSync(join(template, 'state/blog.json'), 'utf8'));
  const failed = readFileSync(join(template, 'logs/deploy-events.jsonl'), 'utf8')
    .split('\n')
    .find((line) => line.includes('"DeployFailure"'));
  const keyBytes = Buffer.from(key, 'base64url');
  return {
    git,
    api,
    bot,
    hook,
    template,
    files,
    event,
    waiting: idOf('telegram'),
    dead: idOf('discord'),
    plan,
    ready,
    failedDeploy: JSON.parse(failed ?? '{}').deploy_id,
    log: `> build\n${spilled()}\nerror: it ended with ${TOKENS.classic}\n`,
    secrets: {
      ...TOKENS,
      'bot token': BOT_TOKEN,
      'other bot token': OTHER_BOT,
      webhook: hook.token,
      'other webhook': OTHER_WEBHOOK,
      password: URL_PASSWORD,
      foreign: FOREIGN,
      mkey: keyBytes,
      ckey: contentKeyOf(sealed.state.repohost_token, keyBytes),
    },
    env: {
      RUNNER_ETC: etc,
      RUNNER_TOKEN: TOKENS.fine,
      RUNNER_TELEGRAM_TOKEN: BOT_TOKEN,
      RUNNER_DISCORD_WEBHOOK: hook.webhook,
      AWS_SECRET_ACCESS_KEY: FOREIGN,
    },
    copy(folder = join(temporaryFolder('copy'), 'root')) {
      const { status } = spawnSync('cp', ['-a', template, folder]);
      if (status !== 0) throw new Error(`stage: cannot copy to ${folder}`);
      return folder;
    },
    heal: () => {
      for (const service of [git, api, bot, hook]) service.heal();
      grant();
    },
    close: async () => {
      await Promise.all([git.close(), api.close(), bot.close(), hook.close()]);
    },
  };
}

let shared: Promise<Stage> | undefined;

/** The one stage of a test file; its template stays as it is. */
export function sharedStage(): Promise<Stage> {
  shared ??= makeStage();
  return shared;
}
