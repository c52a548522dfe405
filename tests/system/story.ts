/** The order of the chapters. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { distFolder } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { attackRotation, attackSetup, attackShell, attackTerminal } from './attacks.ts';
import {
  addApp,
  deployByTimer,
  failAndRollBack,
  look,
  otherWays,
  restart,
  rotate,
} from './deploys.ts';
import { nextRelease } from './next-release.ts';
import {
  bringItsNode,
  install,
  installFromTarball,
  uninstall,
  upgradeAndBack,
} from './packages.ts';
import { keepSecrets } from './secrets.ts';
import { startServer } from './server.ts';

/** Plays the whole story; returns how many steps it has. Throws at the first that goes wrong. */
export async function play(): Promise<number> {
  const release = join(dirname(distFolder()), 'release');
  const { version } = JSON.parse(readFileSync(join(release, '../package.json'), 'utf8'));
  const deb = join(release, `runner_${version}_all.deb`);
  const next = nextRelease(deb, version, '9.9.9', join(temporaryFolder('next'), 'next'));
  const server = await startServer({ '/srv/release': release, '/srv/next': dirname(next) });
  try {
    await install(server, version);
    await attackTerminal(server);
    await attackShell(server);
    await attackSetup(server);
    await attackRotation(server);
    await addApp(server);
    await deployByTimer(server);
    await failAndRollBack(server);
    await rotate(server);
    await look(server);
    await otherWays(server);
    await restart(server);
    await upgradeAndBack(server, version);
    await keepSecrets(server);
    await uninstall(server, version);
    await installFromTarball(server, version);
    await bringItsNode(server, version);
    return server.steps();
  } catch (error) {
    const { stdout } = await server.container.sh('journalctl --no-pager --quiet --lines=60');
    process.stdout.write(`\nThe journal at that moment:\n${stdout}`);
    throw error;
  } finally {
    await server.close();
  }
}
