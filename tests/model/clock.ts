/** A clock that was set, for one program. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { preloading } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

const CLOCK = `const shift = Number(process.env.CLOCK_OFFSET) * 1000;
const Real = Date;
globalThis.Date = class extends Real {
  constructor(...args) { if (args.length === 0) super(Real.now() + shift); else super(...args); }
  static now() { return Real.now() + shift; }
};
`;

let file: string | undefined;

/** The environment in which a program's clock is ahead by this many seconds. */
export function shiftedClock(seconds: number): Record<string, string> {
  if (seconds === 0) return {};
  if (file === undefined) {
    file = join(temporaryFolder('clock'), 'clock.cjs');
    writeFileSync(file, CLOCK);
  }
  return { ...preloading(file), CLOCK_OFFSET: String(seconds) };
}
