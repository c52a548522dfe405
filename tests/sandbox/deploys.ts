/** What the short and the long tests of deploys share. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import type { World } from '../deploys/world.ts';
import { isAvailable } from './available.ts';

export const deploys = suite('deploys in the sandbox');
export const test = isAvailable ? deploys : deploys.skip;

export const REQUIRED = { RUNNER_SANDBOX: 'required' };

/** The log of the newest deploy. */
export function logOf({ root }: World): string {
  const folder = join(root, 'logs/deploys/shop');
  const paths = readdirSync(folder).map((name) => join(folder, name));
  const newest = paths.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0] as string;
  return readFileSync(newest, 'utf8');
}

export const build = (script: string) => `build: |\n  ${script.replaceAll('\n', '\n  ')}\n`;
