/**
 * `npm run test:system -- five`: five commands, from the package to an app of its own that answers over
 * TLS behind nginx, with traffic, a secret and a chat; the timer deploys it.
 */
import { until as arrived } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { fencesOf } from '../docs/pages.ts';
import { APP, booted, CURL, DOMAIN, installing, putCertificates } from './guest.ts';
import { REPO, TOKEN } from './server.ts';

/** In seconds; the build is part of it. */
const LIMIT = 180;
const DEBS = './runner_0.2.0_amd64.deb';
const PACKAGES = 'acl bubblewrap curl nginx nodejs npm';

/** Plays it; returns how many steps it has. Throws at the first that goes wrong. */
export async function five(): Promise<number> {
  const { server, version } = await booted();
  const { container, git, discord, step, type, until } = server;
  try {
    await putCertificates(server);
    const file = fencesOf('docs/production.md').find(({ language }) => language === 'yaml')?.text;
    await git.commit(REPO, { ...APP, '.deploy.yml': file as string }, 'v1', { tag: 'v1' });
    step('five commands, of which the first is one apt-get');
    const began = performance.now();
    for (const [, command] of installing(version, { debs: DEBS, packages: PACKAGES }))
      await type(command);
    // The code host of this server.
    const config = 'cat | install -o runner -g runner -m 0600 /dev/stdin /opt/runner/config.yml';
    await container.ok(config, { stdin: `code_host_git_url: ${git.url}\n` });
    await type('runner add acme/shop --token -', { stdin: TOKEN });
    await type('runner env set shop SESSION_KEY --file -', { stdin: 'S3ss10n-k3y' });
    const channel = '--channel discord --webhook-file -';
    await type(`runner notify setup ${channel}`, { stdin: discord.webhook });
    const tls = `--cert /etc/ssl/${DOMAIN}.pem --key /etc/ssl/${DOMAIN}.key`;
    await type(`runner setup shop --run "node server.js" --proxy nginx ${tls} --yes`);
    await until(`${CURL} https://${DOMAIN}/ || :`, /^v1$/);
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stdout.write(`\n(5 commands, ${seconds} s to the answer, with the build)\n`);
    assert.ok(seconds <= LIMIT, `${seconds} s`);
    step('what was deployed before it was ready counts no attempt, and the chat has the success');
    await until('runner status shop', /v1 since/);
    const told = () => discord.messages.map((each) => JSON.stringify(each)).join('\n');
    await arrived(() => /v1/.test(told()), 'the chat does not hear of the success');
    assert.match(await type('runner history shop'), /v1/);
    return server.steps();
  } finally {
    await server.close();
  }
}
