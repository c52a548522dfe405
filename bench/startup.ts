/**
 * `npm run bench -- startup`: what the commands cost beside `node -e 0`, in one run. `--rounds N`
 * (default 25). The status is 1 when a budget is missed.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder, executable } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import {
  added,
  type Contestant,
  compare,
  conclude,
  FLOOR,
  node,
  ours,
  printTable,
} from './harness/measure.ts';
import { makeRoot, mustRun } from './harness/root.ts';
import { printSetting, roundsWanted } from './harness/setting.ts';

const TOOLS = readdirSync(join(distFolder(), 'bin')).filter((name) => name.startsWith('runner-'));

/** Budgets, as ratios to `node -e 0`: of what an operator types often, and of what reads or prints YAML. */
const QUICK = 1.25;
/** Appending takes a lock, for which flock(1) is started. */
const CHAINED = 1.6;
const YAML = 1.5;
/** The first screen of `runner top`. */
const SCREEN = 2.5;

const CONFIG = `notify:
  discord_webhook: https://discord.com/api/webhooks/123456789012345678/abcdef
`;

/** The least that Node can do for an event: append it, wait for the disk, print it, with no check. */
const LEAST = `const fs = require('node:fs');
const line = JSON.stringify({ timestamp: '2026-05-04T09:30:00.000Z', event_type: 'DeployStarted',
  project: 'shop', instance: 'default', version: 'v1', deploy_id: 'aaaa1111' }) + '\\n';
const fd = fs.openSync(process.env.RUNNER_ROOT + '/logs/deploy-events.jsonl', 'a');
fs.writeSync(fd, line);
fs.fdatasyncSync(fd);
fs.writeSync(1, line);
process.exit(0);`;

/** A root with ten apps that share two tokens, a failure of the first, and a chat. */
async function rootWithApps(): Promise<string> {
  const tokenOf = (number: number) => `ghp_bench${number % 2}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`;
  const root = await makeRoot(CONFIG, 'acme/app', 10, tokenOf);
  const failure = ['emit', 'DeployFailure', '--project', 'app0', '--version', 'v1', '--error', 'x'];
  await mustRun('runner-audit', failure, { root });
  return root;
}

async function main(): Promise<void> {
  const rounds = roundsWanted(25);
  const root = await rootWithApps();
  const emitRoot = join(temporaryFolder('bench'), 'emit');
  mkdirSync(emitRoot);
  const command = (budget: number, ...words: readonly string[]) =>
    ours(words.join(' '), root, words, { budget });
  printSetting('Starting', rounds);
  const short = ['--help', '--version'].flatMap((flag) =>
    TOOLS.map((name) => command(QUICK, name, flag)),
  );
  const kept = [printTable('Help and version', compare([FLOOR, ...short], rounds))];
  const direct = ours('node runner-list --version', root, ['runner-list', '--version'], {
    budget: QUICK,
  });
  const shim: Contestant = {
    name: 'runner list --version',
    file: executable('runner'),
    args: ['list', '--version'],
  };
  const [floor, without, within] = compare([FLOOR, direct, shim], rounds * 2);
  if (floor && without && within) {
    const own = added('what the shim adds', within, without, 0.05);
    kept.push(printTable('The shim', [floor, without, within, own]));
  }
  const reading = [
    command(QUICK, 'runner-list', '--offline'),
    command(QUICK, 'runner-status', 'app0', '--offline'),
    command(1.35, 'runner-tokens', 'list'),
    command(QUICK, 'runner-debug', 'last-error', 'app0'),
    command(SCREEN, 'runner-top', '--once', '--offline'),
    command(YAML, 'runner-list', '-o', 'yaml'),
    command(YAML, 'runner-notify', 'status', '--offline'),
  ];
  kept.push(printTable('Ten apps', compare([FLOOR, ...reading], rounds)));
  const emitting = [
    'runner-audit',
    'emit',
    'DeployStarted',
    '--project',
    'shop',
    '--version',
    'v1',
  ];
  const name = 'audit emit, one event with fdatasync';
  const writing = [
    ours(name, emitRoot, emitting, { budget: CHAINED }),
    node('the least for one event', emitRoot, ['-e', LEAST]),
  ];
  kept.push(printTable('One event', compare([FLOOR, ...writing], rounds)));
  conclude(kept);
}

void main();
