/** A root whose files are as they should be, what spoils them, and who runs `last-error` on them. */
import { chownSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { executable, type RunOptions, run, shell } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { failure, logText, rootWith, writeLog } from './log.ts';

export const LOG = 'logs/deploy-events.jsonl';
export const isRoot = process.getuid?.() === 0;
/** Uids that no account has; the first runs commands, the second owns what it should not. */
export const SOMEBODY = 64_321;
export const STRANGER = 64_322;

export const lastError = (root: string, args: readonly string[] = [], options: RunOptions = {}) =>
  run('runner-debug', ['last-error', 'shop', ...args], { root, ...options });

export function leftOut(reason: string): void {
  process.stdout.write(`(left out: ${reason})\n`);
}

/** A root of ours with everything that is guarded, as the runner makes it. */
export function goodRoot(): string {
  const root = rootWith('shop');
  writeLog(root, logText([failure('v1')]));
  writeFileSync(join(root, 'mkey'), 'not read\n', { mode: 0o600 });
  const config = 'notify:\n  telegram_bot_token: "123456:abcdef"\n';
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  return root;
}

/** The tree as user and group of this id. */
export function giveTo(root: string, uid: number): void {
  for (const path of ['', ...Object.keys(tree(root))]) chownSync(join(root, path), uid, uid);
}

/** Runs the command without root's rights. */
export function lastErrorAs(uid: number, root: string, ...args: string[]) {
  const words = [process.execPath, executable('runner-debug'), 'last-error', 'shop', ...args];
  const command = words.map((word) => `'${word}'`).join(' ');
  return shell(`exec setpriv --reuid=${uid} --regid=${uid} --clear-groups ${command}`, { root });
}

/** Puts a file or folder elsewhere and a link in its place; returns its path. */
export const moved = (path: string) => (root: string) => {
  const target = `${temporaryFolder('elsewhere')}/kept`;
  renameSync(join(root, path), target);
  symlinkSync(target, join(root, path));
  return join(root, path);
};
