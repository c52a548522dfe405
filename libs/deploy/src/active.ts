/** What logs and exec load about what is active: bundled once, into dist/lib/active.cjs. */
export { activeTargets } from './lifecycle/active.ts';
export { execIn } from './lifecycle/exec.ts';
export { outputOf } from './lifecycle/output.ts';
export { showProgram } from './lifecycle/show.ts';
