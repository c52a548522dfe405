/** A booted server on which the commands of a page are typed, and the app of these pages. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { certificates } from '@runner/testing/certificates';
import { distFolder } from '@runner/testing/run';
import type { Fence } from '../docs/pages.ts';
import { type Server, startServer } from './server.ts';

export const DOMAIN = 'shop.example.org';
/** The app of the pages: PORT is a port or the path of a socket. */
export const APP = {
  'server.js': `const { createServer } = require('node:http');
const version = require('node:fs').readFileSync('VERSION', 'utf8').trim();
createServer((_, answer) => answer.end(version)).listen(process.env.PORT);
`,
  'package.json': '{ "private": true }\n',
  VERSION: 'v1\n',
};

/** Asks the app over TLS. */
export const CURL = `curl --silent --show-error --fail --cacert /etc/ssl/test-ca.pem --resolve ${DOMAIN}:443:127.0.0.1`;

/** A folder with another system than this machine's, such as debootstrap makes; needs the network. */
const BASE = process.env.GUEST;

/** What is typed for the `apt-get install` of a page: this machine has the packages of Debian already. */
export function installing(
  version: string,
  { debs, packages }: { debs: string; packages: string },
): [said: string, typed: string][] {
  const files = debs.replaceAll('./', '/srv/release/').replaceAll('0.2.0', version);
  const apt = 'apt-get install --yes -qq';
  return BASE === undefined
    ? [
        [`apt-get install ${debs}`, `dpkg -i ${files.replaceAll('_amd64', '_all')}`],
        [`apt-get install ${packages}`, 'systemctl enable --now nginx'],
      ]
    : [
        [`apt-get install ${debs}`, `${apt} ${files}`],
        [`apt-get install ${packages}`, `${apt} --no-install-recommends ${packages}`],
      ];
}

/** Boots a server with the packages of the release at hand, in the world of another one. */
export async function booted(world?: Server): Promise<{ server: Server; version: string }> {
  const release = join(dirname(distFolder()), 'release');
  const { version } = JSON.parse(readFileSync(join(release, '../package.json'), 'utf8'));
  const server = await startServer({ '/srv/release': release }, world, BASE);
  await server.container.ok('systemctl disable --now nginx caddy haproxy 2>/dev/null || :');
  if (BASE !== undefined) await server.type('apt-get update -qq');
  return { server, version };
}

/** The certificate of a site, by an authority of its own, where the pages expect them. */
export async function putCertificates({ container }: Server): Promise<void> {
  const { ca, cert, key } = certificates(DOMAIN);
  const put = (path: string, from: string) =>
    container.ok(`cat >${path}`, { stdin: readFileSync(from, 'utf8') });
  await put(`/etc/ssl/${DOMAIN}.pem`, cert);
  await put(`/etc/ssl/${DOMAIN}.key`, key);
  await put('/etc/ssl/test-ca.pem', ca);
}

/** The script of a block, with what a guest types instead; `used` gets which of that there was. */
export function typed(
  { text }: Fence,
  instead: readonly [said: string, typed: string][],
  used: Set<string>,
): string {
  let script = text;
  for (const [said, other] of instead) {
    if (script.includes(said)) used.add(said);
    script = script.replaceAll(said, other);
  }
  return script.replace(/^sudo |(?<=&& |\| )sudo /gm, '');
}
