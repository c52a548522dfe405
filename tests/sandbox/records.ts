/** What the short and the long tests of records share. */
import { suite } from 'uvu';
import { isAvailable } from './available.ts';

export const records = suite('records of a process');
export const test = isAvailable ? records : records.skip;

export const REQUIRED = { RUNNER_SANDBOX: 'required' };
