import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type CommandResult, type Context, command } from '@runner/common/cli/command';
import { holderFor, requireLock } from '@runner/common/files/lock';
import { makeOpenFolder, readGiven } from '@runner/common/files/read';
import { Failure, invalidValue, usage } from '@runner/common/foundation/failure';
import { appName } from '@runner/common/foundation/names';
import { word } from '@runner/common/text/shell';
import {
  readRecord,
  type SetupChoices,
  type SetupRecord,
  setupFolder,
} from '@runner/deploy/instances/setup-record';
import { type AppFacts, factsOf, fileOf, type WhichFile } from '../app/facts.ts';
import { checkCommand } from '../app/programs.ts';
import type { AppNeeds } from '../plan/needs.ts';
import { printPlan, setUp, undo } from '../plan/set-up.ts';
import { answerText, type SetupResult } from '../plan/show.ts';

const OPTIONS = {
  print: { about: 'Print every file and command, and change nothing' },
  yes: { short: 'y', about: 'Do not ask; still refuses to replace files that setup did not make' },
  undo: {
    about: 'Remove what setup made; keeps files that were changed since',
    conflicts: ['print', 'next', 'deploy-file', 'run', 'user', 'proxy', 'public', 'cert', 'key'],
  },
  run: {
    placeholder: 'COMMAND',
    about: 'What the unit runs in the release, such as "node server.js"',
  },
  user: {
    placeholder: 'NAME',
    about: "The unit's user [default: that of the unit, else the app's name]",
  },
  proxy: {
    placeholder: 'NAME',
    choices: ['nginx', 'caddy', 'haproxy', 'none'],
    about: 'The proxy for the domains [default: the one that is installed]',
  },
  public: {
    placeholder: 'DIR',
    about: 'Folder of the release that the site shows, if nothing is started; such as dist, or .',
  },
  cert: { placeholder: 'FILE', about: 'Certificate of your own, with its chain; needs --key' },
  key: { placeholder: 'FILE', about: 'Its private key; needs --cert' },
  next: {
    about: "Read the newest commit's .deploy.yml, not that of the active release",
    conflicts: ['deploy-file'],
  },
  'deploy-file': { placeholder: 'FILE', about: 'Read this .deploy.yml instead' },
  facts: { about: "Only print what setup reads about the app, as the root's owner" },
} as const;

/** Of `.deploy.yml`, in bytes. */
const FILE_MAX = 65_536;
const READ_FROM_STDIN = /^(?:-|\/dev\/stdin)$/;

export const setup = command({
  about: 'Make what an app needs of the server: user, unit, access lists, site with TLS',
  details:
    'Shows each file and command, then asks. Run again, it shows only what differs. What it makes is\n' +
    'recorded in /etc/runner/setup/<app>.json, which --undo, doctor and deploy --check read. It never\n' +
    'replaces a file that it did not make, or that was changed since, without showing the difference and\n' +
    'asking. The choices --run, --user, --proxy, --public, --cert and --key are remembered.\n' +
    '\n' +
    'nginx and HAProxy get a certificate from certbot if it is installed, Caddy gets its own. A\n' +
    'configuration that the proxy refuses, or has not taken up within 30 s, is put back.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: OPTIONS,
  exits: [[75, 'Another setup is running']],
  safeInForeignRoot: true,
  examples: [
    'sudo runner setup shop --run "node server.js"',
    'runner setup shop --deploy-file .deploy.yml --run "node server.js" --print',
    'sudo runner setup shop --cert /etc/ssl/shop.pem --key /etc/ssl/private/shop.key',
    'sudo runner setup site --public dist',
    'sudo runner setup shop --undo',
  ],
  async run(context): Promise<CommandResult> {
    const { io, paths, args, options } = context;
    const app = appName(args.app);
    const text = options['deploy-file'];
    const which: WhichFile = text !== undefined ? 'none' : options.next ? 'next' : 'active';
    const given = text === undefined ? null : readGiven(io, text, FILE_MAX, '.deploy.yml');
    if ((options.cert === undefined) !== (options.key === undefined))
      throw usage('--cert and --key go together');
    const read = async () => {
      const facts = await factsOf({ io, paths }, app, which);
      return given === null ? facts : { ...facts, deploy_file: given };
    };
    if (options.facts) return { value: await read() };
    if (options.print) return { value: printPlan(needsOf(context, await read())) };
    if (io.uid !== 0 && !io.env.RUNNER_ETC)
      throw new Failure(
        'not_writable',
        `setup changes the server: use sudo runner setup ${word(app)}, or add --print`,
      );
    using _lock = lockSetup(context);
    if (options.undo) return { value: undo(context, recordOf(context, app)) };
    return { value: setUp(context, needsOf(context, await read())) };
  },
  human(value: SetupResult | AppFacts, _style, { options }) {
    if (!('steps' in value)) return value.deploy_file ?? '';
    if (options.undo && value.result === 'nothing_to_do')
      return `nothing to undo: setup made nothing for ${value.app}\n`;
    return answerText(value);
  },
});

type SetupContext = Pick<Context, 'io' | 'paths'> & {
  readonly options: Readonly<Record<string, unknown>>;
};

function lockSetup({ io }: Pick<Context, 'io'>) {
  const folder = setupFolder(io.env);
  makeOpenFolder(folder);
  return requireLock(join(folder, '.lock'), 'setup', 10, holderFor(io, 'setup'));
}

function recordOf({ io }: Pick<Context, 'io'>, app: string): SetupRecord {
  return readRecord(io.env, app) ?? { version: 1, app, choices: {}, made: [] };
}

/** What the operator chose now or before, and the app. */
function needsOf(context: SetupContext, facts: AppFacts): AppNeeds {
  const { io, paths, options } = context;
  const record = recordOf(context, facts.app);
  if (typeof options.run === 'string') checkCommand(io.env, options.run);
  if (typeof options.public === 'string') checkFolder(options.public);
  const names = ['run', 'user', 'proxy', 'public', 'cert', 'key'] as const;
  const chosen = names.flatMap((name) => {
    const value = options[name];
    if (typeof value !== 'string') return [];
    return [[name, name === 'cert' || name === 'key' ? fileAt(io.cwd, value) : value]];
  });
  const choices: SetupChoices = { ...record.choices, ...Object.fromEntries(chosen) };
  const from = options['deploy-file'];
  const name = typeof from === 'string' && !READ_FROM_STDIN.test(from) ? from : undefined;
  const machine = { server: { io, paths }, env: io.env, record: { ...record, choices } };
  return { machine, app: facts.app, file: fileOf(facts, name), facts, choices };
}

/** The folder becomes part of the proxy's configuration. */
function checkFolder(folder: string): void {
  const parts = folder.replace(/\/$/, '').split('/');
  if (folder === '.' || parts.every((part) => /^[A-Za-z0-9_][\w.@-]*$/.test(part))) return;
  const rule = 'a folder of the release, such as dist or apps/web/dist, or . for all of it';
  throw invalidValue(folder, '--public <DIR>', `it must be ${rule}`);
}

function fileAt(cwd: string, path: string): string {
  const whole = resolve(cwd, path);
  // An ordinary user may not look into the folder of the key.
  if (existsSync(whole) || process.geteuid?.() !== 0) return whole;
  throw new Failure('file_unreadable', `there is no file ${whole}`);
}
