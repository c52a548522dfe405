/** The notice of a newer package. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sendJson, startLoopback } from '@runner/testing/loopback';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('a newer package is a warning; the same, an older one and no answer are none', async () => {
  let body: object = {};
  let status = 200;
  const server = await startLoopback({
    route: () => '',
    answer: (_, response) => sendJson(response, status, body),
  });
  const root = temporaryFolder('root');
  writeFileSync(join(root, 'config.yml'), `updates: { url: "${server.url}/latest" }\n`, {
    mode: 0o600,
  });
  const said = async () => {
    const { stdout } = await run('runner-doctor', ['--json'], { root });
    const { findings } = JSON.parse(stdout) as { findings: Record<string, string>[] };
    return findings.flatMap(({ check, level, message }) =>
      check === 'updates' ? [`${level} ${message}`] : [],
    );
  };
  // GitHub's `url` is that of its API.
  const url = 'https://api.example.org/releases/1';
  body = { tag_name: 'v99.1', url, html_url: 'https://example.org/v99' };
  assert.match(
    (await said()).join(),
    /^warning runner 99\.1 is there, this is \S+: https:\/\/example\.org\/v99$/,
  );
  body = { version: '0.0.1-rc1', url: 'https://example.org' };
  assert.match((await said()).join(), /^ok \S+ is the newest package$/);
  status = 500;
  assert.match((await said()).join(), /^ok no version of a package was found \(HTTP status 500\)$/);
  await server.close();
  assert.match((await said()).join(), /^ok no newer package is known: /);
});

test('an address that is not valid is a problem of config.yml, which names the line', async () => {
  const root = temporaryFolder('root');
  writeFileSync(join(root, 'config.yml'), 'updates: { url: "http://example.org" }\n', {
    mode: 0o600,
  });
  const { status, stdout } = await run('runner-doctor', ['--offline'], { root });
  assert.is(status, 1);
  assert.match(stdout, /problem {2}config .*config\.yml:1: updates\.url must be https/);
});

test.run();
