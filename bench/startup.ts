/**
 * `npm run bench -- startup`: what the commands cost beside `node -e 0`, in one run. `--rounds N`
 * (default 25). The status is 1 when a budget is missed.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { added, type Contestant, compare, FLOOR, printTable } from './harness/measure.ts';
import { bin, printSetting, roundsWanted } from './harness/setting.ts';

const TOOLS = readdirSync(join(distFolder(), 'bin')).filter((name) => name.startsWith('runner-'));

/** A root with ten apps that share two tokens. */
async function rootWithApps(): Promise<string> {
  const root = join(temporaryFolder('bench'), 'root');
  for (let number = 0; number < 10; number += 1) {
    const token = `ghp_bench${number % 2}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`;
    const args = ['--repo', `acme/app${number}`, '--branch', 'main', '--token', '-'];
    const done = await run('runner-add', args, { root, stdin: token });
    if (done.status !== 0) throw new Error(done.stderr);
  }
  return root;
}

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
  const help = TOOLS.map((name) => node(name, ['--help'], root, 1.1));
  const version = TOOLS.map((name) => node(name, ['--version'], root, 1.1));
  const kept = [printTable('Help and version', compare([FLOOR, ...help, ...version], rounds))];
  const direct = node('runner-list', ['--version'], root, 1.1, 'node runner-list --version');
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
          node('runner-list', [], root, 1.3),
          node('runner-status', ['app0'], root, 1.3),
          node('runner-tokens', ['list'], root, 1.3),
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
          node('runner-audit', emitting, emitRoot, 1.1, 'audit emit, one event with fdatasync'),
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
