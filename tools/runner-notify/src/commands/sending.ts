/** Loaded by the commands that send; bundled into dist/lib/notify-sending.cjs. */
export { printPreviews } from '../channels/preview.ts';
export { flushAll } from '../deliver/flush.ts';
export { announceAll } from '../deliver/send.ts';
export { announceDigest } from '../digest/digest.ts';
export { setUp } from '../setup/setup.ts';
export { trialsText } from '../status/text.ts';
export { tryChannels } from '../status/trial.ts';
