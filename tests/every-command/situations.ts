/** What can be wrong with a root, a service or the way a command is called: one function for each. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunOptions } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { BOT_TOKEN, TOKENS, URL_PASSWORD } from './known-secrets.ts';
import type { Stage } from './stage.ts';

/** Where one command is about to run. */
export interface Place {
  readonly root: string;
  readonly stage: Stage;
  /** Called when the command has ended. */
  readonly after: (() => void)[];
}

/** Spoils something before the command runs; returns what it is to be run with, if anything. */
export type Situation = (place: Place) => RunOptions | undefined | Promise<RunOptions | undefined>;

const at =
  (path: string, change: (file: string) => void): Situation =>
  ({ root }) => {
    change(join(root, path));
    return undefined;
  };
const replaced = (path: string, text: string) =>
  at(path, (file) => writeFileSync(file, text, { mode: 0o600 }));
const inPlaceOf = (path: string, make: (file: string) => void) =>
  at(path, (file) => {
    rmSync(file, { recursive: true, force: true });
    make(file);
  });

interface Sealed {
  state: { repohost_token?: string };
}

/** Changes the sealed token of shop; gets that of blog too. */
const resealed = (change: (own: string, others: string) => string | undefined): Situation =>
  at('state', (folder) => {
    const read = (app: string) => {
      const file = join(folder, `${app}.json`);
      return JSON.parse(readFileSync(file, 'utf8')) as Sealed;
    };
    const shop = read('shop');
    const token = change(shop.state.repohost_token ?? '', read('blog').state.repohost_token ?? '');
    const state = token === undefined ? {} : { repohost_token: token };
    writeFileSync(join(folder, 'shop.json'), JSON.stringify({ ...shop, state }));
  });

/** Appended to config.yml; the line holds more than a message should repeat. */
const configLine = (line: string): Situation =>
  at('config.yml', (file) => writeFileSync(file, `${readFileSync(file, 'utf8')}${line}\n`));
const configWith = (pattern: RegExp, line: string): Situation =>
  at('config.yml', (file) =>
    writeFileSync(file, readFileSync(file, 'utf8').replace(pattern, line)),
  );

/** The command line of what holds a lock here. */
export const HOLDER = /^sleep 600$/;

/** Holds a lock as another process does. */
const lockedBy =
  (path: string): Situation =>
  async ({ root, after }) => {
    mkdirSync(join(root, 'locks'), { recursive: true });
    const script = 'exec 3>>"$1"; flock -x 3; echo held; exec sleep 600';
    const holder: ChildProcess = spawn('/bin/sh', ['-c', script, 'sh', join(root, path)], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    after.push(() => holder.kill('SIGKILL'));
    if (holder.stdout) await once(holder.stdout, 'data');
    return undefined;
  };

let pathWithoutFlock: string | undefined;

/** A PATH on which all that runs here is found but flock. */
const withoutFlock: Situation = () => {
  if (pathWithoutFlock === undefined) {
    const folder = temporaryFolder('path');
    const taken = new Set(['flock']);
    for (const place of [dirname(process.execPath), '/usr/bin', '/bin']) {
      for (const name of readdirSync(place).filter((each) => !taken.has(each))) {
        symlinkSync(join(place, name), join(folder, name));
        taken.add(name);
      }
    }
    pathWithoutFlock = folder;
  }
  return { env: { PATH: pathWithoutFlock } };
};

/** What a service repeats of what it was sent, and of what others sent. */
const ECHO = `refused: ${TOKENS.classic} ${TOKENS.fine} ${TOKENS.gitlab} ${BOT_TOKEN} https://x:${URL_PASSWORD}@example.org/`;

const answering =
  (...statuses: (readonly [name: 'git' | 'api' | 'bot' | 'hook', status: number])[]): Situation =>
  ({ stage }) => {
    for (const [name, status] of statuses) {
      const text = `${ECHO} ${stage.hook.webhook}`;
      const body =
        name === 'git'
          ? text
          : { ok: false, error_code: status, description: text, message: text, code: 50006 };
      const headers = { 'content-type': name === 'git' ? 'text/plain' : 'application/json' };
      stage[name].fail({ status, body, headers }, 99);
    }
    return undefined;
  };
const everybody = (status: number) =>
  answering(['git', status], ['api', status], ['bot', status], ['hook', status]);

const breaking =
  (fault: 'drop' | 'not-json'): Situation =>
  ({ stage }) => {
    for (const service of [stage.git, stage.api, stage.bot, stage.hook]) service.fail(fault, 99);
    return undefined;
  };

export const SITUATIONS = {
  'a state file is damaged': replaced('state/shop.json', `{"repo":"${TOKENS.classic}",`),
  'a state file is newer': replaced(
    'state/shop.json',
    `{"version":9,"app":"shop","x":"${TOKENS.classic}"}`,
  ),
  'a state file is a folder': inPlaceOf('state/shop.json', (file) => mkdirSync(file)),
  'the master key is lost': at('mkey', (file) => rmSync(file)),
  'others may read the master key': at('mkey', (file) => chmodSync(file, 0o644)),
  'the master key is damaged': replaced('mkey', `${TOKENS.plain}\n`),
  'the master key is another one': replaced('mkey', `${'A'.repeat(43)}\n`),
  'a token is damaged': resealed((own) => own.slice(0, -4)),
  'a token is that of another app': resealed((_, others) => others),
  'the app has no token': resealed(() => undefined),
  'config.yml is no YAML': configLine(`notify: [ "${BOT_TOKEN}" ${TOKENS.plain}`),
  'a value in config.yml is wrong': configWith(
    /notify:\n/,
    `max_deploy_retries: ${TOKENS.plain}\nnotify:\n  channel: ${BOT_TOKEN}\n  telegram_thread_id: ${TOKENS.classic}\n`,
  ),
  'an address holds a password': configWith(
    /code_host_git_url: http:\/\/(.*)\ncode_host_api_url: http:\/\/(.*)\n/,
    `code_host_git_url: http://x:${URL_PASSWORD}@$1\ncode_host_api_url: http://${URL_PASSWORD}@$2\n`,
  ),
  'a chat is not reached by https': configWith(
    /telegram_api_url: .*\n/,
    `telegram_api_url: http://example.org/bot${BOT_TOKEN}\n`,
  ),
  'config.yml is a folder': inPlaceOf('config.yml', (file) => mkdirSync(file)),
  'no chat is configured': async (place) => {
    await configWith(/notify:[\s\S]*/, '')(place);
    return { env: { RUNNER_TELEGRAM_API_URL: place.stage.bot.url } };
  },
  'there is no audit log': at('logs', (folder) => rmSync(folder, { recursive: true })),
  'the audit log is a folder': inPlaceOf('logs/deploy-events.jsonl', (file) => mkdirSync(file)),
  'others may write the audit log': at('logs/deploy-events.jsonl', (file) =>
    chmodSync(file, 0o666),
  ),
  'a deploy of the app runs': lockedBy('locks/shop.lock'),
  'another process writes the audit log': lockedBy('locks/.audit.lock'),
  'another command changes the registry': lockedBy('locks/registry.lock'),
  'flock is missing': withoutFlock,
  'a file stands in the place of locks': inPlaceOf('locks', (file) => writeFileSync(file, '')),
  'a file stands in the place of spool': inPlaceOf('spool', (file) => writeFileSync(file, '')),
  // Without a failed deploy: after one, rollback changes nothing.
  'the releases are gone': async (place) => {
    await at('apps', (folder) => rmSync(folder, { recursive: true }))(place);
    await at('state/shop.json', (file) => {
      const { last_failure: _, failures: __, ...state } = JSON.parse(readFileSync(file, 'utf8'));
      writeFileSync(file, JSON.stringify(state));
    })(place);
  },
  'the branch is gone': at('state/shop.json', (file) =>
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/"branch":\s*"main"/, '"branch":"gone"'),
    ),
  ),
  'every host answers 401': everybody(401),
  'every host answers 403': everybody(403),
  'every host answers 404': everybody(404),
  'every host answers 429': everybody(429),
  'every host answers 500': everybody(500),
  'every host hangs up': breaking('drop'),
  'every host answers no JSON': breaking('not-json'),
  'standard output is full': ({ after }) => {
    const full = openSync('/dev/full', 'w');
    after.push(() => existsSync('/dev/full'));
    return { fds: { 1: full } };
  },
} as const satisfies Record<string, Situation>;

export type SituationName = keyof typeof SITUATIONS;
