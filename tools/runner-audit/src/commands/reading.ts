/** Loaded by the commands that read the log; bundled into dist/lib/audit-reading.cjs. */
export { listEvents } from '../log/list.ts';
export { tailEvents } from '../log/tail.ts';
export { verdict } from '../verify/verdict.ts';
