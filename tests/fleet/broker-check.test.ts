/** `broker check` compares the accounts of the running broker with the configuration that `broker config` prints. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasBroker, whenBroker } from '@runner/testing/broker';
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openBroker } from '../../libs/fleet/src/broker/nats.ts';
import { makeStage, type Stage } from './stage.ts';
import { must } from './world.ts';

const test = suite<Stage & { printed: string }>('broker check');
const withBroker = whenBroker(test);

test.before(async (scene) => {
  if (!hasBroker()) return;
  Object.assign(scene, await makeStage(['web1', 'web2']));
  const { operator, broker } = scene;
  scene.printed = await must(operator.fleet(['broker', 'config', '--store', broker.store]));
});
test.after(({ close }) => close?.());

/** All users in one account, as if the isolation had been left out. */
function inOneAccount(printed: string): string {
  const users = [...printed.matchAll(/nkey: (U\w+)/g)].map(([, key]) => `{ nkey: ${key} }`);
  const before = printed.slice(0, printed.indexOf('accounts {'));
  return `${before}accounts { ALL { jetstream: enabled, users: [ ${users.join(', ')} ] } }\n`;
}

const keyOf = (printed: string, server: string) =>
  new RegExp(`"SRV_${server}" \\{\\s+users: \\[ \\{ nkey: (U\\w+)`).exec(printed)?.[1] ?? '';

const CHANGES: Readonly<Record<string, readonly [(printed: string) => string, RegExp]>> = {
  'all in one account': [inOneAccount, /the key of broker check is not in the system account/],
  'a configuration without the key of broker check': [
    (printed) => printed.replace(/ {2}"\$SYS" \{[^}]*\} \} \]\n {2}\}\n/, ''),
    /the broker runs with another configuration;/,
  ],
  'a server that was not added yet': [
    (printed) =>
      printed
        .replace(/ {2}"SRV_web2" \{[\s\S]*?\n {2}\}\n/, '')
        .replaceAll('"SRV_web1", "SRV_web2"', '"SRV_web1"')
        .split('\n')
        .filter((line) => !line.includes('SRV_web2'))
        .join('\n'),
    /there is no account SRV_web2/,
  ],
  'a subject of web2 for web1': [
    (printed) =>
      printed.replace(
        '{ service: "runner.event.web2", accounts: ["SRV_web2"] }',
        '{ service: "runner.event.web2", accounts: ["SRV_web1", "SRV_web2"] }',
      ),
    /FLEET offers runner\.event\.web2 to SRV_web1 SRV_web2/,
  ],
  'a subject for all': [
    (printed) =>
      printed.replace(
        '{ service: "runner.state.web2", accounts: ["SRV_web2"] }',
        '{ service: "runner.state.web2" }',
      ),
    /FLEET offers runner\.state\.web2 to all/,
  ],
  'streams in the account of a server': [
    (printed) => printed.replace('"SRV_web1" {', '"SRV_web1" {\n    jetstream: enabled'),
    /SRV_web1 has streams of its own/,
  ],
};

for (const [name, [change, what]] of Object.entries(CHANGES))
  withBroker(`${name}: broker_unsafe`, async ({ operator, broker, printed }) => {
    const changed = change(printed);
    assert.is.not(changed, printed);
    await broker.start(changed);
    const { status, stderr } = await operator.fleet(['broker', 'check']);
    assert.is(status, 1, stderr);
    assert.match(stderr, what);
    assert.match(stderr, /load the output of runner fleet broker config \(broker_unsafe\)\n$/);
  });

withBroker('two servers that share an account: broker_unsafe', async (scene) => {
  const { operator, broker, printed, roots } = scene;
  const second = keyOf(printed, 'web2');
  const shared = printed
    .replace(`[ { nkey: ${second} } ]`, '[]')
    .replace(/("SRV_web1" \{\s+users: \[ )/, `$1{ nkey: ${second} }, `);
  await broker.start(shared);
  const seed = readFileSync(join(roots.web2 as string, 'agent/login.nk'), 'utf8').trim();
  const web2 = await openBroker({ url: broker.url, ca: undefined, seed, name: 'web2' });
  const found = await operator.fleet(['broker', 'check', '--json']);
  const { error, problems } = JSON.parse(found.stdout);
  assert.equal(
    [found.status, error, problems],
    [1, 'broker_unsafe', ['web2 is in the account SRV_web1, not SRV_web2']],
  );
  const check = await run('runner-agent', ['check'], { root: roots.web1 as string });
  assert.match(check.stdout, /lets web1 reach more than its own subjects.*\(broker_unsafe\)/);
  await web2.close();
});

withBroker(
  'the printed configuration is valid and does what it says',
  async ({ operator, broker, printed, roots }) => {
    await broker.start(printed);
    assert.match(await must(operator.fleet(['broker', 'check'])), /2 servers have a mailbox/);
    for (const root of Object.values(roots))
      assert.match((await run('runner-agent', ['check'], { root })).stdout, /broker {4}ok/);
  },
);

withBroker(
  'names the servers that are not connected, whose accounts it could not compare',
  async ({ operator }) => {
    const checked = JSON.parse(await must(operator.fleet(['broker', 'check', '--json'])));
    for (const server of ['web1', 'web2'])
      assert.ok(
        checked.warnings.includes(`${server} is not connected: its account could not be compared`),
        checked.warnings.join(),
      );
  },
);

test.run();
