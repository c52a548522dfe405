/** What the short and the long tests of pipes share. */
import { type Ended, shell } from '@runner/testing/run';
import type { World } from './world.ts';

export type Printed = Record<string, unknown>;

/** The lines of stdout, each of which is a record. */
export function recordsOf({ stdout }: Ended): Printed[] {
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Printed);
}

export function sh({ root }: World, script: string): Promise<Ended> {
  return shell(script, { root });
}
