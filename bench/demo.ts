/**
 * `npm run bench -- demo`: how long the whole story of `npm run demo` takes, from the built executables.
 * `--rounds N` (default 3). The status is 1 when it takes longer than it may.
 */
import { spawnSync } from 'node:child_process';
import { printSetting, roundsWanted } from './harness/setting.ts';

/** Seconds. */
const BUDGET = 15;

/** Seconds that the demo took; it must end well. */
function played(): number {
  const env = { ...process.env };
  for (const name of ['NODE_EXTRA_CA_CERTS', 'RUNNER_ROOT']) delete env[name];
  const begin = performance.now();
  const { status } = spawnSync(
    process.execPath,
    ['scripts/bundle/run.mjs', 'scripts/demo/main.ts'],
    {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  if (status !== 0) throw new Error(`the demo ended with ${status}`);
  return (performance.now() - begin) / 1000;
}

function main(): void {
  const rounds = roundsWanted(3);
  printSetting('The demo', rounds);
  const times = Array.from({ length: rounds }, played).sort((a, b) => a - b);
  const took = times[Math.floor((rounds - 1) / 4)] as number;
  const kept = took <= BUDGET;
  process.stdout.write(
    `\n| what | time | ratio to the budget | budget | |\n|---|---|---|---|---|\n| npm run demo, warm | ${took.toFixed(1)} s | ${(took / BUDGET).toFixed(2)} | ${BUDGET} s | ${kept ? 'kept' : 'MISSED'} |\n`,
  );
  if (!kept) process.exitCode = 1;
}

main();
