/** What the short and the long tests of signed share. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitEnvironment } from '@runner/testing/git-repos';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { makeWorld, REPO, type World } from '../deploys/world.ts';

export interface SignedWorld extends World {
  /** Commits a version signed by a key of ssh-keygen; undefined: not signed. */
  commit(version: string, key?: string, ...more: string[]): string;
  /** Runs git where the commits are made. */
  inClone(...args: string[]): string;
  list(...lines: string[]): void;
  readonly signers: string;
}

export const keys = temporaryFolder('keys');

export const keyFile = (name: string): string => {
  const path = join(keys, name);
  if (!existsSync(path))
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path]);
  return path;
};

export const line = (name: string, options = '') =>
  `${name}@example.org ${options} ${readFileSync(`${keyFile(name)}.pub`, 'utf8').trim()}`;

export async function makeSignedWorld(old = false): Promise<SignedWorld> {
  const world = await makeWorld({ old });
  const folder = join(world.root, '..', 'etc');
  mkdirSync(folder);
  const signers = join(folder, 'commit_signers');
  const config = join(world.root, 'config.yml');
  writeFileSync(config, `${readFileSync(config, 'utf8')}commit_signers: ${signers}\n`);
  const clone = join(world.root, '..', 'clone');
  const env = {
    ...gitEnvironment(),
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'Ada'],
        [`GIT_${who}_EMAIL`, 'ada@example.org'],
      ]),
    ),
  };
  execFileSync('git', ['init', '-q', '-b', 'main', clone], { env });
  const inClone = (...args: string[]) =>
    execFileSync('git', ['-C', clone, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      .toString()
      .trim();
  inClone('remote', 'add', 'origin', world.git.path(REPO));
  return {
    ...world,
    signers,
    inClone,
    list: (...lines) => writeFileSync(signers, `${lines.join('\n')}\n`, { mode: 0o644 }),
    commit(version, key, ...more) {
      writeFileSync(join(clone, '.deploy.yml'), `keep: 3\nbuild: "echo ${version} > version"\n`);
      inClone('add', '.');
      const signing =
        key === undefined ? [] : ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${keyFile(key)}`];
      const how = key === undefined ? '--no-gpg-sign' : '-S';
      inClone(...signing, 'commit', '-q', '--allow-empty', how, '-m', version, ...more);
      inClone('push', '-q', '--force', 'origin', 'HEAD:main');
      return inClone('rev-parse', 'HEAD');
    },
  };
}

export const fetch = (world: World, ...args: string[]) =>
  run('runner-fetch', ['--deploy', ...args], { root: world.root });

export const edit = (world: World, mode: string) =>
  run('runner-edit', ['shop', '--require-signed', mode], { root: world.root });
