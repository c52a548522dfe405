/** A world whose app is a unit of a systemd that only answers, with a secret in a file in memory. */
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atExit } from '@runner/testing/cleanup';
import { type Ended, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { recording } from '../deploys/fake-programs.ts';
import { makeWorld, type World } from '../deploys/world.ts';

export interface UnitWorld extends World {
  readonly unit: string;
  readonly dropIn: string;
  /** The file with the secret. */
  readonly envFile: string;
  /** Of the programs that are to find that systemd. */
  readonly env: Record<string, string>;
  verify(...args: string[]): Promise<Ended>;
}

let worlds = 0;

/** Its app is registered, has the secret TOKEN, and is not deployed yet. */
export async function makeUnitWorld(): Promise<UnitWorld> {
  const world = await makeWorld();
  worlds += 1;
  const memory = `/dev/shm/runner-verify-${process.pid}-${worlds}`;
  mkdirSync(memory, { mode: 0o700, recursive: true });
  atExit(() => rmSync(memory, { recursive: true, force: true }));
  const folder = temporaryFolder('units');
  const [unit, dropIn] = [join(folder, 'shop.service'), join(folder, 'limits.conf')];
  writeFileSync(unit, '[Service]\nExecStart=/usr/bin/node server.js\n');
  writeFileSync(dropIn, '[Service]\nMemoryMax=1G\n');
  const root8 = createHash('sha256').update(world.root).digest('hex').slice(0, 8);
  const envFile = join(memory, 'runner', root8, 'shop/default.env');
  const shown = `LoadState=loaded\\nFragmentPath=${unit}\\nDropInPaths=${dropIn}\\nEnvironmentFiles=${envFile} (ignore_errors=no)\\n`;
  const { env } = recording(
    ['systemctl', 'journalctl'],
    `case "$(basename "$0") $*" in *is-active*) echo active ;; *show*) printf '${shown}' ;; esac`,
  );
  const all = { ...env, XDG_RUNTIME_DIR: memory };
  const { root } = world;
  const set = ['set', 'shop', 'TOKEN', '--file', '-'];
  await run('runner-env', set, { root, env: all, stdin: 'correct-horse-battery-7' });
  return {
    ...world,
    unit,
    dropIn,
    envFile,
    env: all,
    verify: (...args) =>
      run('runner-verify', args.length > 0 ? args : ['shop'], { root, env: all }),
  };
}
