/** What the commands load when they read the log: all of it is bundled once, into dist/lib/reading.cjs. */
export { listEvents } from '../log/list.ts';
export { tailEvents } from '../log/tail.ts';
export { verdict } from '../verify/verdict.ts';
