/** Loaded by the commands that send; bundled into dist/lib/notify-sending.cjs. */
export { printPreviews } from '../channels/preview.ts';
export { announceAll } from '../deliver/announce.ts';
export { flushAll } from '../deliver/flush.ts';
export { announceDigest } from '../digest/digest.ts';
export { setUp } from '../setup/setup.ts';
export { trialsText } from '../status/text.ts';
export { tryChannels } from '../status/trial.ts';
