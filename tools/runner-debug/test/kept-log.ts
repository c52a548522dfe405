/** What the short and the long tests of kept log share. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { failure, logText, rootWith, writeLog } from './log.ts';

export const TEXT = [
  '$ sh build.sh',
  'compiling 12 files',
  '\u001b[31msrc/cart.ts(9,5): error TS2304: Cannot find name totl.\u001b[0m',
  '',
  'build: `sh build.sh` ended with status 2',
  '',
].join('\n');

/** Puts the log of a deploy where the pipeline keeps it; `age` in seconds. */
export function keep(
  root: string,
  id: string,
  text: string | Uint8Array = TEXT,
  { age = 0, app = 'shop' } = {},
) {
  const folder = join(root, 'logs/deploys', app);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.log`), text);
  const time = Date.now() / 1000 - age;
  utimesSync(join(folder, `${id}.log`), time, time);
}

export const event = (kind: string, id: string, more: object = {}) => ({
  ...failure('v2'),
  event_type: kind,
  deploy_id: id,
  stage: 'build',
  ...more,
});

/** A root whose app failed as aaaa1111, then as bbbb2222, then succeeded as cccc3333. */
export function madeRoot(): string {
  const root = rootWith('shop', 'blog');
  writeLog(
    root,
    logText([
      event('DeployFailure', 'aaaa1111', { version: 'v1' }),
      event('DeployFailure', 'bbbb2222'),
      event('DeploySuccess', 'cccc3333', { version: 'v3', stage: undefined }),
      event('DeployFailure', 'dddd4444', { project: 'blog' }),
    ]),
  );
  keep(root, 'aaaa1111', 'Error: first\n', { age: 30 });
  keep(root, 'bbbb2222', TEXT, { age: 20 });
  keep(root, 'cccc3333', 'Error: printed, but all went well\n', { age: 10 });
  return root;
}

export const log = (root: string, ...args: string[]) =>
  run('runner-debug', ['log', ...args], { root });
