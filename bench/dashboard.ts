/**
 * `npm run bench -- dashboard`: what viewers of the page cost, and how soon they see what happens.
 * `--viewers N` (default 200), `--seconds N` (default 20). As root, with setfacl. The status is 1 when a budget is missed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Dashboard, startDashboard, view } from '../tests/eyes/dashboard.ts';
import { logLine, makeEyesRoot } from '../tests/eyes/root.ts';
import { printRows, verdict } from './harness/measure.ts';
import { memoryIn, processorTime, smapsOf } from './harness/process.ts';
import { printSetting } from './harness/setting.ts';

const APPS = 10;
/** Budgets: part of a core, MB more than without viewers, and ms from an event to the screen. */
const [CORE, MEMORY, LATENCY] = [1, 30, 1_000];
const TIMES = 20;

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== '--'),
  options: {
    viewers: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '20' },
  },
});

/** Milliseconds of processor time, and MB. */
function usageOf({ child }: Dashboard): { time: number; memory: number } {
  const pid = child.pid as number;
  return { time: processorTime(pid), memory: memoryIn(smapsOf(pid), 'Rss') };
}

async function main(): Promise<void> {
  const paths = makeEyesRoot(APPS, true);
  const served = await startDashboard(paths.root);
  const heard: number[] = [];
  const first = view(served.port, '/events', (text) => {
    if (text.includes('tick ')) heard.push(Date.now());
  });
  await sleep(3_000);
  const without = usageOf(served);
  const viewers = Array.from({ length: Number(values.viewers) - 1 }, () =>
    view(served.port, '/events'),
  );
  await sleep(3_000);
  const begun = usageOf(served);
  await sleep(Number(values.seconds) * 1_000);
  const ended = usageOf(served);
  const delays: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    const [before, at] = [heard.length, Date.now()];
    logLine(paths, 'shop', `tick ${time}`);
    while (heard.length === before) await sleep(5);
    delays.push((heard.at(-1) ?? 0) - at);
    await sleep(137 * (time % 7));
  }
  const busy = usageOf(served);
  const core = (ended.time - begun.time) / (10 * Number(values.seconds));
  const memory = ended.memory - without.memory;
  const latency = Math.max(...delays);
  const row = (what: string, [value, budget]: [number, number], unit: string) => [
    what,
    `${value.toFixed(unit === 'ms' ? 0 : 2)} ${unit}`,
    `${budget} ${unit}`,
    verdict(value <= budget),
  ];
  printSetting('The dashboard', 1);
  printRows(
    `${values.viewers} viewers of ${APPS} apps`,
    ['what', 'measured', 'budget', ''],
    [
      row('processor', [core, CORE], '% of a core'),
      row('memory, more than for one viewer', [memory, MEMORY], 'MB'),
      row('from a line of a log to all screens, the longest', [latency, LATENCY], 'ms'),
      ['memory in all, while a log grows', `${busy.memory.toFixed(2)} MB`, '', ''],
    ],
  );
  for (const viewer of [first, ...viewers]) viewer.close();
  served.child.kill();
  process.exit(core > CORE || memory > MEMORY || latency > LATENCY ? 1 : 0);
}

void main();
