/** What the short and the long tests of units share. */
import { mkdirSync, rmSync } from 'node:fs';
import { atExit } from '@runner/testing/cleanup';
import { suite } from 'uvu';
import { recording } from './fake-programs.ts';
import { makeWorld, type World } from './world.ts';

export const UNIT = 'start: { type: systemd, unit: shop.service }\n';

/** A systemd with one unit, which has these properties. */
export function systemd(memory: string, properties: string, more = ''): Record<string, string> {
  const { env } = recording(
    ['systemctl', 'journalctl'],
    `case "$(basename "$0") $*" in ${more} *is-active*) echo active ;; *show*) printf 'LoadState=loaded\\n${properties}' ;; esac`,
  );
  return { ...env, XDG_RUNTIME_DIR: memory };
}

export function unitsSuite(name: string) {
  const test = suite<{ world: World; memory: string }>(name);
  test.before.each(async (context) => {
    context.world = await makeWorld({ parent: '/tmp' });
    context.memory = `/dev/shm/runner-units-${process.pid}`;
    mkdirSync(context.memory, { mode: 0o700, recursive: true });
    const { memory } = context;
    atExit(() => rmSync(memory, { recursive: true, force: true }));
  });
  test.after.each(async ({ world }) => {
    await world.close();
  });
  return test;
}
