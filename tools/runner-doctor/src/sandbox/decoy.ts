/** The target of the attempts: a fake root and home, and a process instead of the runner. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { orElse } from '@runner/common/foundation/attempt';
import type { Env } from '@runner/common/foundation/io';
import { type Paths, pathsOf } from '@runner/common/foundation/paths';
import { memoryFoldersOf } from '@runner/deploy/sandbox/memory-folders';

export interface Decoy {
  readonly paths: Paths;
  /** Home of the user that runs the runner. */
  readonly home: string;
  readonly release: string;
  readonly shared: string;
  /** The folder of a slot. */
  readonly slot: string;
  /** The app's secrets in memory; empty where this user has no folder for them. */
  readonly memory: string;
  /** A socket like that of an ssh agent. */
  readonly agent: string;
  readonly runner: ChildProcess;
  /** Creates a folder for one attempt. */
  folder(name: string): string;
  remove(): void;
}

const FILES = [
  ...['mkey', 'config.yml', 'state/escape.json', 'state/other.json', 'locks/registry.lock'],
  ...['logs/deploy-events.jsonl', 'logs/deploys/other/1.log', 'spool/notify/0.telegram.json'],
  ...['escape', 'other'].flatMap((app) =>
    ['repo.git/config', 'home/.npmrc', 'instances/default/shared/.env'].map(
      (file) => `apps/${app}/${file}`,
    ),
  ),
  ...['apps/other/releases/r1/server.js', 'apps/escape/releases/r0/server.js'],
  'apps/escape/instances/default/run/pid.json',
  'apps/escape/instances/default/a/env',
];
const OF_USER = ['.gitconfig', '.npmrc', '.bashrc', '.ssh/authorized_keys'];

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Listens on two sockets until it is ended. */
const LISTEN =
  'for (const each of process.argv.slice(2)) require("net").createServer().listen(each, () => console.log(each))';

export async function makeDecoy(env: Env): Promise<Decoy> {
  const { PATH = '' } = env;
  // Not in TMPDIR: the path of a socket has at most 107 bytes.
  const top = mkdtempSync('/tmp/runner-decoy-');
  const [root, home] = [join(top, 'root'), join(top, 'home')];
  for (const file of FILES) write(join(root, file), 'decoy\n');
  for (const file of OF_USER) write(join(home, file), 'real\n');
  mkdirSync(join(home, '.pm2'));
  const open = join(top, 'open');
  writeFileSync(open, 'canary\n');
  const paths = pathsOf(root);
  const { releases, instance } = paths.app('escape');
  const agentFolder = mkdtempSync('/tmp/ssh-');
  const agent = join(agentFolder, 'agent');
  const sockets = [join(home, '.pm2/rpc.sock'), agent];
  const runner = spawn(process.execPath, ['-e', LISTEN, 'CANARY', ...sockets], {
    env: { PATH, CANARY: 'canary' },
    stdio: [openSync(open, 'r'), 'pipe', 'ignore'],
  });
  for (let lines = 0; lines < sockets.length; )
    lines += String((await once(runner.stdout as Readable, 'data'))[0]).split('\n').length - 1;
  const memory = memoryOf(root, env);
  return {
    paths,
    home,
    runner,
    agent,
    memory,
    release: join(releases, '.tmp-escape'),
    shared: instance('default').shared,
    slot: join(instance('default').dir, 'a'),
    folder(name) {
      const folder = join(releases, name);
      mkdirSync(folder, { recursive: true });
      return folder;
    },
    remove() {
      runner.kill('SIGKILL');
      for (const each of [top, agentFolder, ...(memory ? [dirname(memory)] : [])])
        rmSync(each, { recursive: true, force: true });
    },
  };
}

/** Where the app's secrets would be in memory, with a file; empty where there is no such folder. */
function memoryOf(root: string, env: Env): string {
  for (const folder of memoryFoldersOf(root, env)) {
    if (!existsSync(dirname(folder))) continue;
    const made = orElse(() => {
      write(join(folder, 'escape/default.env'), 'decoy\n');
      return join(folder, 'escape');
    }, '');
    if (made !== '') return made;
  }
  return '';
}
