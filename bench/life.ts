/**
 * `npm run bench -- life`: what people type between two deploys. `--rounds N` (default 15). The status
 * is 1 when a budget is missed.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startGitServer } from '@runner/testing/git-server';
import {
  added,
  type Contestant,
  compare,
  conclude,
  type Figure,
  FLOOR,
  ours,
  printRows,
  printTable,
  verdict,
} from './harness/measure.ts';
import { makeRoot, mustRun } from './harness/root.ts';
import { printSetting, roundsWanted } from './harness/setting.ts';

/** Milliseconds that `exec` may add to a start of Node and one of the command. */
const EXEC = 40;
const SECRETS = 10;
/** Starts of Node for a log that is redacted: it takes node:crypto, and forms of each secret. */
const LOGS_REDACTED = 2;
/** Starts of Node that `env list` may take beyond `tokens list` of as many tokens. */
const LISTING = 0.1;
const tokenOf = (number: number) => `ghp_${'0123456789ab'.repeat(3)}${number}`;

/** Apps, the first of which is stopped, with a log of 1 GB. */
async function rootWithApp(): Promise<{ root: string; close: () => Promise<void> }> {
  const git = await startGitServer({ token: tokenOf(0) });
  await git.createRepo('acme/shop');
  for (let number = 1; number < SECRETS; number += 1) git.allow(tokenOf(number));
  const deploy = 'start: { type: process, run: exec sleep 1000 }\n';
  await git.commit('acme/shop', { '.deploy.yml': deploy }, 'first');
  const config = `code_host_git_url: ${git.url}\n`;
  const root = await makeRoot(config, 'acme/shop', SECRETS, tokenOf);
  await mustRun('runner-deploy', ['app0'], { root });
  await mustRun('runner-stop', ['app0'], { root });
  const log = join(root, 'apps/app0/instances/default/run/output.log');
  const line = 'GET /cart/42 200 12 ms, of a visitor who came back';
  execFileSync('sh', ['-c', 'yes "$1" | head -c 1000000000 >"$2"', 'sh', line, log]);
  return { root, close: () => git.close() };
}

async function main(): Promise<void> {
  const rounds = roundsWanted(15);
  const { root, close } = await rootWithApp();
  printSetting("An app's life", rounds);
  const command = (budget: number | undefined, ...words: readonly string[]) =>
    ours(words.join(' '), root, words, { budget });
  const logs = (budget: number) => command(budget, 'runner-logs', 'app0', '-n', '100');
  const kept = [printTable('A log of 1 GB', compare([FLOOR, logs(1.5)], rounds))];
  const dotenv = Array.from({ length: SECRETS }, (_, at) => `NAME_${at}=value-${at}-0123456789\n`);
  await mustRun('runner-env', ['import', 'app0'], { root, stdin: dotenv.join('') });
  const reading = [
    command(undefined, 'runner-tokens', 'list'),
    command(undefined, 'runner-env', 'list', 'app0'),
    logs(LOGS_REDACTED),
  ];
  const read = compare([FLOOR, ...reading], rounds);
  const [, tokens, secrets] = read as [Figure, Figure, Figure];
  const beyond = added('env list beyond tokens list', secrets, tokens, LISTING);
  kept.push(printTable('The same with ten secrets, and ten tokens', [...read, beyond]));
  const shell: Contestant = { name: 'sh -c true', file: '/bin/sh', args: ['-c', 'true'] };
  const exec = ours('exec -- true', root, ['runner-exec', 'app0', '--', 'true'], {
    env: { RUNNER_ROOT: root, RUNNER_SANDBOX: 'off' },
  });
  const figures = compare([FLOOR, shell, exec], rounds);
  kept.push(printTable('A command in the active release', figures));
  const [floor, one, whole] = figures.map(({ quick }) => quick) as [number, number, number];
  const more = whole - floor - one;
  kept.push(more <= EXEC);
  const cells = ['what exec adds', `${more.toFixed(1)} ms`, `${EXEC} ms`, verdict(more <= EXEC)];
  printRows('On top of both', ['what', 'time', 'budget', ''], [cells]);
  await close();
  conclude(kept);
}

void main();
