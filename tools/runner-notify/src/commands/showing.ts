/** Loaded by `status`; bundled into dist/lib/notify-showing.cjs. */
export { notifyStatus } from '../status/status.ts';
export { statusText } from '../status/text.ts';
