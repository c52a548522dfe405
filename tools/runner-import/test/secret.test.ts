/** What a command is given as a secret, and what only looks like it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hidesSecret } from '../src/plan/secret.ts';

const GIVEN = [
  'mysqldump -u root -pmysecret shop',
  "mysql -p'my secret' shop",
  'node a.js -pmySECRET1',
  '-pmySECRET1',
  'x --password X',
  'x -password X',
  'x --api-key=X',
  '--token abc',
  'PASSWORD=x node a.js',
  'a b --quiet c PGPASSWORD="x" psql',
  'sshpass -p abc ssh h',
  'redis-cli -h x -a abc ping',
  'curl -u me:abc https://example.org',
];
const HARMLESS = [
  'mysqldump -u root -p shop',
  'mysql -p"$PASSWORD" shop',
  'x --password $PASSWORD --token "$TOKEN"',
  'ssh -p2222 h',
  'find . -print0',
  'mkdir -p tmp/pids',
  'sort --key 2',
  'docker run -u 1000:1000 -p8080:80 x',
  'x --password-file /run/secret',
  'node server.js --port 3000',
];

for (const text of GIVEN)
  test(`\`${text}\` gives a secret`, () => {
    assert.is(hidesSecret(text), true);
  });
for (const text of HARMLESS)
  test(`\`${text}\` gives none`, () => {
    assert.is(hidesSecret(text), false);
  });

test('a long text is looked at soon', () => {
  const begun = Date.now();
  for (const part of ['a', '-', ' ', 'a ', 'a=', '--a ', ' -p', 'mysql ', "'", '-u a:'])
    hidesSecret(part.repeat(65_536 / part.length));
  assert.ok(Date.now() - begun < 5_000);
});

test.run();
