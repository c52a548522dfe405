/**
 * `npm run bench -- startup`: what the commands cost beside `node -e 0`, in one run. `--rounds N`
 * (default 25). The status is 1 when a budget is missed.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { added, type Contestant, compare, FLOOR, printTable } from './harness/measure.ts';
import { bin, printSetting, roundsWanted } from './harness/setting.ts';

const TOOLS = readdirSync(join(distFolder(), 'bin')).filter((name) => name.startsWith('runner-'));

/** Budgets, as ratios to `node -e 0`: of what an operator types often, and of what reads or prints YAML. */
const QUICK = 1.25;
const YAML = 1.5;

/** A root with ten apps that share two tokens, a failure of the first, and a chat. */
async function rootWithApps(): Promise<string> {
  const root = join(temporaryFolder('bench'), 'root');
  for (let number = 0; number < 10; number += 1) {
    const token = `ghp_bench${number % 2}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`;
    const args = ['--repo', `acme/app${number}`, '--branch', 'main', '--token', '-'];
    const done = await run('runner-add', args, { root, stdin: token });
    if (done.status !== 0) throw new Error(done.stderr);
  }
  const failure = ['emit', 'DeployFailure', '--project', 'app0', '--version', 'v1', '--error', 'x'];
  const emitted = await run('runner-audit', failure, { root });
  if (emitted.status !== 0) throw new Error(emitted.stderr);
  writeFileSync(join(root, 'config.yml'), CONFIG, { mode: 0o600 });
  return root;
}

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

async function main(): Promise<void> {
  const rounds = roundsWanted(25);
  const root = await rootWithApps();
  const emitRoot = join(temporaryFolder('bench'), 'emit');
  mkdirSync(emitRoot);
  const node = (
    tool: string,
    args: readonly string[],
    where: string,
    budget: number,
    label?: string,
  ): Contestant => ({
    name: label ?? `${tool} ${args.join(' ')}`.trim(),
    file: process.execPath,
    args: [bin(tool), ...args],
    env: { RUNNER_ROOT: where },
    budget,
  });
  printSetting('Starting', rounds);
  const help = TOOLS.map((name) => node(name, ['--help'], root, QUICK));
  const version = TOOLS.map((name) => node(name, ['--version'], root, QUICK));
  const kept = [printTable('Help and version', compare([FLOOR, ...help, ...version], rounds))];
  const direct = node('runner-list', ['--version'], root, QUICK, 'node runner-list --version');
  const shim: Contestant = {
    name: 'runner list --version',
    file: bin('runner'),
    args: ['list', '--version'],
  };
  const [floor, without, within] = compare([FLOOR, direct, shim], rounds * 2);
  if (floor && without && within) {
    const own = added('what the shim adds', within, without, 0.05);
    kept.push(printTable('The shim', [floor, without, within, own]));
  }
  kept.push(
    printTable(
      'Ten apps',
      compare(
        [
          FLOOR,
          node('runner-list', [], root, QUICK),
          node('runner-status', ['app0'], root, QUICK),
          node('runner-tokens', ['list'], root, 1.35),
          node('runner-debug', ['last-error', 'app0'], root, QUICK),
          node('runner-list', ['-o', 'yaml'], root, YAML),
          node('runner-notify', ['status', '--offline'], root, YAML),
        ],
        rounds,
      ),
    ),
  );
  const emitting = ['emit', 'DeployStarted', '--project', 'shop', '--version', 'v1'];
  kept.push(
    printTable(
      'One event',
      compare(
        [
          FLOOR,
          node('runner-audit', emitting, emitRoot, QUICK, 'audit emit, one event with fdatasync'),
          {
            name: 'the least for one event',
            file: process.execPath,
            args: ['-e', LEAST],
            env: { RUNNER_ROOT: emitRoot },
          },
        ],
        rounds,
      ),
    ),
  );
  if (kept.includes(false)) process.exitCode = 1;
}

void main();
