// Runs the tests with the oldest supported Node, 22, 24 and the newest, each from a package of npm's
// registry, kept in node_modules/.cache. `--smoke` runs a few tests and starts every executable; with
// `--turn NUMBER` only one of those between the oldest and the newest takes part, chosen by the number.
//
//   npm run matrix [-- --smoke] [--turn NUMBER] [part of a path …]
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkout, childEnvironment, say } from '../tasks/checkout.mjs';
import { findNode, versionOf } from './find-node.mjs';

/** The oldest that is supported, the ones with long-term support, and the newest. */
const [oldest, ...between] = ['20.18', '22', '24'];
const smokeTests = ['common/test/cli/', 'common/test/http/', 'every-command/loading'];
const dist = join(checkout, 'dist');
const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false }, turn: { type: 'string' } },
});
const chosen = values.turn === undefined ? between : [between[values.turn % between.length]];

/** Runs scripts/test/main.mjs, passes its output on and resolves the counts of its last line. */
function runTests(node, env) {
  const parts = positionals.length > 0 || !values.smoke ? positionals : smokeTests;
  const script = join(checkout, 'scripts/test/main.mjs');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, '--node', node, ...parts], {
      cwd: checkout,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk);
      output += chunk;
    });
    child.on('close', (status) => {
      const counts = /(\d+) passed, (\d+) failed, \d+ skipped\n$/.exec(output);
      const [passed, failed] = counts === null ? [0, 1] : [Number(counts[1]), Number(counts[2])];
      resolve({ passed, failed: status === 0 ? failed : Math.max(failed, 1) });
    });
  });
}

/** Starts every executable with `--version`; gives the counts. */
function startExecutables(env) {
  const counts = { passed: 0, failed: 0 };
  for (const name of readdirSync(join(dist, 'bin'))) {
    const end = spawnSync(join(dist, 'bin', name), ['--version'], { env, encoding: 'utf8' });
    const good = end.status === 0 && end.stdout === `${name} ${version}\n`;
    counts[good ? 'passed' : 'failed'] += 1;
    if (!good) say(`FAIL  ${name} --version: status ${end.status}, ${end.stdout}${end.stderr}`);
  }
  return counts;
}

const sum = { passed: 0, failed: 0 };
for (const wanted of [oldest, ...chosen, 'latest']) {
  const node = findNode(wanted);
  if (node === undefined) {
    say(`FAIL  Node ${wanted} could not be fetched`);
    sum.failed += 1;
    continue;
  }
  say(`matrix: Node ${versionOf(node)}, ${node}`);
  const env = childEnvironment();
  env.PATH = `${dirname(node)}${delimiter}${env.PATH}`;
  for (const counts of [startExecutables(env), await runTests(node, env)]) {
    sum.passed += counts.passed;
    sum.failed += counts.failed;
  }
}
if (sum.failed > 0) process.exitCode = 1;
process.stdout.write(`${sum.passed} passed, ${sum.failed} failed\n`);
