/** Every command of every executable. */
import { APPROVAL } from './contract-approval.ts';
import { JOBS } from './contract-jobs.ts';
import { NOTIFY } from './contract-notify.ts';
import { PIPELINE } from './contract-pipeline.ts';
import { READING } from './contract-reading.ts';
import { REGISTRY } from './contract-registry.ts';
import { SECRETS } from './contract-secrets.ts';
import { START } from './contract-start.ts';
import type { Entry } from './entry.ts';

export const CONTRACT: readonly Entry[] = [
  ...REGISTRY,
  ...START,
  ...SECRETS,
  ...PIPELINE,
  ...APPROVAL,
  ...JOBS,
  ...NOTIFY,
  ...READING,
];
