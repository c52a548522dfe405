/** Source `process`: whether the release still runs, and how often its supervisor had to start it again. */
import type { StartOf } from '@runner/common/deploy-file/start';
import { askAll } from '../instances/drivers/ask.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { restartsOf } from '../instances/drivers/unit-state.ts';
import type { WatchFinding } from './sequence.ts';
import type { WatchSource } from './source.ts';

/** Looks in a row at which it does not run. */
const GONE = 3;
/** Restarts by its supervisor: one crash may have another reason, two in one watch have this one. */
const CRASHES = 2;
/** Looks after which what still runs counts as running; a question needs as many answers. */
export const ENOUGH = 5;
/** Between two looks, in ms: the clients of other supervisors take long, and much of the processor. */
export const SLOW_EVERY = 10_000;
const PATIENCE = 5_000;

/** undefined if no one can say whether it runs. */
export function processSource(target: Target): WatchSource | undefined {
  const { start } = target;
  if (start.type === 'none' || start.type === 'command') return undefined;
  const isUnit = start.type === 'systemd';
  const unit = target as Target<StartOf<'systemd'>>;
  const begin = isUnit ? restartsOf(unit) : 0;
  let looks = 0;
  let isKnown = false;
  let gone = 0;
  let crashes = 0;
  return {
    name: `process of ${target.instance.name}`,
    isQuick: isUnit || start.type === 'process',
    every: isUnit || start.type === 'process' ? 1_000 : SLOW_EVERY,
    async look() {
      const [answer] = await askAll([driverFor(start).status(target)], PATIENCE);
      looks += 1;
      if (!answer || answer.status === 'unknown') return;
      isKnown = true;
      gone = answer.status === 'stopped' ? gone + 1 : 0;
      if (isUnit) crashes = restartsOf(unit) - begin;
    },
    get finding(): WatchFinding {
      if (gone >= GONE || crashes >= CRASHES) return 'bad';
      return looks >= ENOUGH ? 'good' : 'open';
    },
    get ended() {
      if (gone > 0) return 'it has ended';
      return crashes > 0 ? `crashed ${crashes === 1 ? 'once' : `${crashes} times`}` : undefined;
    },
    get words() {
      if (gone >= GONE || crashes > 0) return this.ended as string;
      return isKnown || looks === 0 ? 'runs' : 'its supervisor cannot say';
    },
  };
}
