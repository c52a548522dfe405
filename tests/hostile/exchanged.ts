/** What the short and the long tests of exchanged share. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Canary, exchanging } from '@runner/testing/exchange';
import { type Ended, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';

/** More for a long look. */
export const WANTED = Number(process.env.EXCHANGES ?? 10_000);

export const NAMES = ['file', 'other', 'output.log', 'big'];

/** Makes folders that look like the one outside, each with a link that takes its place. */
export function plant(canary: Canary, folders: readonly string[]) {
  return folders.map((folder) => {
    // The last round may have left them exchanged.
    for (const path of [folder, `${folder}-link`]) rmSync(path, { recursive: true, force: true });
    mkdirSync(join(folder, 'inner'), { recursive: true });
    for (const name of [...NAMES, 'inner/file']) writeFileSync(join(folder, name), 'ours');
    symlinkSync(canary.folder, `${folder}-link`);
    return { folder, link: `${folder}-link`, target: canary.folder };
  });
}

/** Runs a command again and again while the folders in `above` are exchanged. */
export async function attacked(
  prepare: (round: number) => Promise<readonly string[]>,
  command: (round: number) => Promise<Ended>,
): Promise<void> {
  const canary = new Canary(NAMES);
  let exchanges = 0;
  for (let round = 0; round < 3 || exchanges < WANTED; round += 1) {
    const attack = exchanging(plant(canary, await prepare(round)), round % 3 === 0 ? 0 : 20);
    const { status, stdout, stderr } = await command(round);
    exchanges += await attack.stop();
    assert.ok(status === 0 || status === 1, stderr);
    assert.not.match(stderr, 'this is a bug');
    assert.not.match(stdout, 'outside');
    assert.is(canary.changes(), '');
  }
  process.stdout.write(`(${exchanges} exchanges)\n`);
}

export const levels = (top: string) =>
  ['d0', 'x/d1', 'x/y/d2', 'x/y/z/d3'].map((path) => join(top, path));

export async function makeRoot(): Promise<{ root: string; own: string }> {
  const root = join(temporaryFolder('exchanged'), 'root');
  return { root, own: join(root, 'apps/shop') };
}

export async function register(root: string): Promise<void> {
  const args = ['--repo', 'acme/shop', '--branch', 'main', '--public'];
  const { status, stderr } = await run('runner-add', args, { root });
  assert.is(status, 0, stderr);
}
