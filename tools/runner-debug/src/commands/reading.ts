/** Loaded by the commands that read logs of steps; bundled into dist/lib/debug-reading.cjs. */
export { redactorForAll, redactorForAny } from '@runner/common/redaction/redact';
export { createExtractor } from '@runner/extract/extract';
export { baselineFor } from '../baseline.ts';
export { follow, runningDeploy } from '../follow.ts';
export { openKeptLog } from '../kept-log.ts';
export { causeIn, linesOf, rawTexts } from '../marked-log.ts';
export { showPaged } from '../pager.ts';
