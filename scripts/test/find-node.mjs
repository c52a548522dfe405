// Versions of Node, each from a package of npm's registry, kept in node_modules/.cache.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, childEnvironment } from '../tasks/checkout.mjs';

/** The version that a program reports, undefined when it does not run. */
export function versionOf(program) {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return /^v(\d+\.\d+\.\d+)\n$/.exec(stdout ?? '')?.[1];
}

/** The node program of a version; the newest is asked for each time. undefined where it cannot be fetched. */
export function findNode(wanted) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(cacheFolder, `node-${wanted}`);
  const program = join(folder, 'node_modules', name, 'bin', 'node');
  if (wanted !== 'latest' && existsSync(program) && versionOf(program)) return program;
  mkdirSync(folder, { recursive: true });
  spawnSync(
    'npm',
    ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `${name}@${wanted}`],
    { cwd: folder, env: childEnvironment({ network: true }), stdio: ['ignore', 2, 2] },
  );
  return existsSync(program) && versionOf(program) ? program : undefined;
}
