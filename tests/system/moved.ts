/** The commands of docs/operating.md: the first block on the old server, the others on a new one. */
import { IDENTITY } from '@runner/testing/age-key';
import * as assert from 'uvu/assert';
import { type Fence, fencesOf } from '../docs/pages.ts';
import { booted, CURL, DOMAIN, installing, putCertificates, typed } from './guest.ts';
import type { Server } from './server.ts';

const MOVING = 'docs/operating.md#move-to-another-server';
const BACKUP = '/var/lib/runner/backup.age';

/** What the page says and a guest types: it has the files of this machine. */
const onNewServer = (version: string): [said: string, typed: string][] => [
  ...installing(version, {
    debs: './runner_0.2.0_amd64.deb',
    packages: 'acl bubblewrap curl nginx nodejs npm',
  }),
  ['runner setup shop ', 'runner setup shop --yes '],
];

/** The first block of the section; resolves the backup, in base64. */
export async function leftBehind({ container, step, type }: Server): Promise<string> {
  const [first] = fencesOf(MOVING);
  step(`${MOVING}:${first?.line}`);
  await type(`set -e\n${typed(first as Fence, [], new Set())}`);
  return container.ok(`base64 --wrap=0 ${BACKUP}`);
}

/** The other blocks, on a new server. Returns how many steps it has. */
export async function moved(old: Server, version: string, backup: string): Promise<number> {
  const { server } = await booted(old);
  const { container, step, type } = server;
  try {
    await putCertificates(server);
    await container.ok('cat >/root/runner-key.txt', { stdin: IDENTITY });
    await container.ok('base64 --decode >/root/backup.age', { stdin: backup });
    const used = new Set<string>();
    for (const fence of fencesOf(MOVING).slice(1)) {
      step(`${MOVING}:${fence.line}`);
      await type(`set -e; cd /root\n${typed(fence, onNewServer(version), used)}`);
    }
    assert.is(used.size, onNewServer(version).length, 'every replacement is used');
    step('the app answers on the new server, with its secret and its history');
    assert.is(await type(`${CURL} https://${DOMAIN}/`), 'v2');
    assert.match(await type('runner env list shop'), /SESSION_KEY/);
    assert.match(await type('runner history shop'), /v1[\s\S]*v2|v2[\s\S]*v1/);
    assert.match(await type('runner setup shop --yes'), /nothing to do/);
    return server.steps();
  } finally {
    await container.close();
  }
}
