/** Loaded by `last-error` when it appends to the audit log; bundled into dist/lib/debug-writing.cjs. */
export { appendWaiting } from '@runner/common/audit/kept';
export { bypassGuards } from '../bypass.ts';
