/**
 * `npm run bench -- demo`: how long the whole story of `npm run demo` takes, from the built executables.
 * `--rounds N` (default 3). The status is 1 when it takes longer than it may.
 */
import { compare, conclude, printSeconds } from './harness/measure.ts';
import { printSetting, roundsWanted } from './harness/setting.ts';

/** Seconds. */
const BUDGET = 15;

const rounds = roundsWanted(3);
printSetting('The demo', rounds);
const args = ['scripts/bundle/run.mjs', 'scripts/demo/main.ts'];
const demo = { name: 'npm run demo, warm', file: process.execPath, args, strict: true };
const [figure] = compare([demo], rounds);
const seconds = (figure?.quick ?? Number.NaN) / 1000;
conclude([printSeconds('The whole story', demo.name, seconds, { budget: BUDGET })]);
