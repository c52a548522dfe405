/** The target of the attempts: a fake root and home, and a process instead of the runner. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Env } from '@runner/common/foundation/io';
import { type Paths, pathsOf } from '@runner/common/foundation/paths';

export interface Decoy {
  readonly paths: Paths;
  /** Home of the user that runs the runner. */
  readonly home: string;
  readonly release: string;
  readonly shared: string;
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
];
const OF_USER = ['.gitconfig', '.npmrc', '.bashrc', '.ssh/authorized_keys'];

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

export function makeDecoy({ PATH = '' }: Env): Decoy {
  const top = mkdtempSync(join(tmpdir(), 'runner-decoy-'));
  const [root, home] = [join(top, 'root'), join(top, 'home')];
  for (const file of FILES) write(join(root, file), 'decoy\n');
  for (const file of OF_USER) write(join(home, file), 'real\n');
  const open = join(top, 'open');
  writeFileSync(open, 'canary\n');
  const paths = pathsOf(root);
  const { releases, instance } = paths.app('escape');
  const runner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)', 'CANARY'], {
    env: { PATH, CANARY: 'canary' },
    stdio: [openSync(open, 'r'), 'ignore', 'ignore'],
  });
  return {
    ...{ paths, home, runner, release: join(releases, '.tmp-escape') },
    shared: instance('default').shared,
    folder(name) {
      const folder = join(releases, name);
      mkdirSync(folder, { recursive: true });
      return folder;
    },
    remove() {
      runner.kill('SIGKILL');
      rmSync(top, { recursive: true, force: true });
    },
  };
}
