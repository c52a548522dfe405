import { startGitServer } from '@runner/testing/git-server';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('a repository is read and written only with the token and its user name', async () => {
  const server = await startGitServer({ token: 'right' });
  await server.createRepo('acme/shop');
  await server.commit('acme/shop', { 'index.html': 'one\n' }, 'first');
  const ask = async (service: string, login?: string) => {
    const authorization = `Basic ${Buffer.from(login ?? '').toString('base64')}`;
    const response = await fetch(`${server.url}/acme/shop/info/refs?service=${service}`, {
      headers: login === undefined ? {} : { authorization },
    });
    return response.status;
  };
  for (const service of ['git-upload-pack', 'git-receive-pack']) {
    assert.is(await ask(service, 'x-access-token:right'), 200);
    assert.is(await ask(service), 401);
    assert.is(await ask(service, 'x-access-token:wrong'), 401);
    assert.is(await ask(service, 'someone:right'), 401);
  }
  server.revoke('right');
  assert.is(await ask('git-upload-pack', 'x-access-token:right'), 401);
  await server.close();
});

test.run();
