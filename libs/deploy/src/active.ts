/** What logs and exec load about what is active: bundled once, into dist/lib/active.cjs. */
export { activeTargets } from './lifecycle/active.ts';
export { execIn } from './lifecycle/exec.ts';
export { outputOf } from './lifecycle/output.ts';
export { showFiles, showProgram } from './lifecycle/show.ts';
export { readMarks } from './run/output-marks.ts';
