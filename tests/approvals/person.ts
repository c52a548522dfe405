/** What the short and the long tests of person share. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { atExit } from '@runner/testing/cleanup';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { inWorld, type World } from '../deploys/world.ts';

/** A world with a plan that needs approvals. */
export const planned = (rule: string, body: (world: World, id: string) => Promise<void>) =>
  inWorld(async (world) => {
    await world.launch('v1');
    const config = join(world.root, 'config.yml');
    appendFileSync(
      config,
      `require_approval: { shop: ${rule} }\napprovers: ${world.root}/approvers\n`,
    );
    await world.push('v2');
    const { stdout, stderr } = await run('runner-plan', ['deploy', 'shop', '--json'], world);
    assert.match(stdout, '"id":"p-', stderr);
    await body(world, JSON.parse(stdout).id);
  });

/** A program that is root under the name sudo, as its caller `uid` starts it. */
export function asSudo(uid: number, line: string, env: Record<string, string> = {}) {
  const folder = mkdtempSync('/tmp/runner-sudo-');
  atExit(() => rmSync(folder, { recursive: true, force: true }));
  const sudo = join(folder, 'sudo');
  copyFileSync('/bin/bash', sudo);
  chmodSync(folder, 0o755);
  chmodSync(sudo, 0o4755);
  const asked = `${sudo} -p -c '${line}; exit $?'; exit $?`;
  const words = ['--reuid', String(uid), '--clear-groups', '/bin/sh', '-c', asked];
  return spawnSync('setpriv', words, { encoding: 'utf8', env: { PATH: process.env.PATH, ...env } });
}
