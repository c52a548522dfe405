/** What the short and the long tests of blame share. */
import { suite } from 'uvu';
import { isAvailable } from './available.ts';

export const sandbox = suite('blame, and files of systemd, in the sandbox');
export const test = isAvailable ? sandbox : sandbox.skip;

export const REQUIRED = { RUNNER_SANDBOX: 'required' };
