/** What the version before costs that is kept running while a release is watched. */
import { slotPaths } from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import { recordedProcess, runningPid } from '@runner/common/files/process';
import { usageOf } from '@runner/common/files/usage';
import { askAll } from '../instances/drivers/ask.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import { keptTarget } from '../instances/target.ts';
import type { Operation } from '../journal/operation.ts';

/** Longest time for the answer of a supervisor, in ms. */
const PATIENCE = 2_000;

/** Memory that would be free without the versions that are kept running, in bytes; null without one. */
export async function warmBytes(op: Operation, { app, instances }: AppState) {
  let sum: number | null = null;
  for (const [name, { draining, slots }] of Object.entries(instances)) {
    const held = draining && slots?.[draining.slot];
    if (!draining || !held) continue;
    const { run } = slotPaths(op.paths.app(app).instance(name), draining.slot);
    const pid = runningPid(run);
    const own = pid === undefined ? [] : [pid, recordedProcess(run)?.session ?? pid];
    const target = keptTarget(op, name, held, draining.slot);
    const status = target && pid === undefined ? driverFor(target.start).status(target) : 'unknown';
    const [answer] = own.length > 0 ? [] : await askAll([status], PATIENCE);
    const usage = usageOf(own.length > 0 ? own : (answer?.pids() ?? []));
    sum = (sum ?? 0) + (usage?.own ?? 0);
  }
  return sum;
}
