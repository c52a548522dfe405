/** TLS, clocks and revocation on a real broker. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@runner/testing/app';
import { hasBroker, testBroker, whenBroker } from '@runner/testing/broker';
import { certificates } from '@runner/testing/certificates';
import { preloading, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeStage, type Stage } from './stage.ts';
import { makeOperator, must } from './world.ts';

const test = suite<Stage>('guards');
const SERVERS = ['web1', 'web2', 'web3'];

test.before(async (stage) => {
  if (!hasBroker()) return;
  Object.assign(stage, await makeStage(SERVERS));
  await stage.startAgent('web1');
});
test.after(async ({ close }) => close?.());

/** The environment in which a program's clock is ahead. */
function clock(minutes: number): Record<string, string> {
  const file = join(temporaryFolder('clock'), 'clock.cjs');
  writeFileSync(
    file,
    `const Real = Date, ahead = ${minutes} * 60_000;
globalThis.Date = class extends Real {
  constructor(...args) { if (args.length > 0) super(...args); else super(Real.now() + ahead); }
  static now() { return Real.now() + ahead; }
};\n`,
  );
  return preloading(file);
}

const withBroker = whenBroker(test);

withBroker(
  'clocks that differ: status marks them, orders of the future and late ones are refused',
  async (stage) => {
    await stage.startAgent('web2', clock(-7));
    await stage.startAgent('web3', clock(30));
    const { servers } = (await stage.fleet('status')).lines[0] as {
      servers: { clock_skew_ms: number }[];
    };
    const minutes = servers.map(({ clock_skew_ms: skew }) => Math.round(skew / 60_000));
    assert.equal(minutes, [0, -7, 30]);
    const text = (await stage.operator.fleet(['status'])).stdout;
    assert.match(text, /web2 .*clock -\d.* !/);
    const { lines } = await stage.fleet('hold', 'shop', '--wait', '30s');
    const by = Object.fromEntries(lines.slice(1, -1).map(({ server, status }) => [server, status]));
    // web1 has no app of that name.
    assert.equal(by, { web1: 'failed', web2: 'clock_skew', web3: 'expired' });
  },
);

withBroker(
  'a removed server is cut off when the configuration is reloaded, others are not',
  async (stage) => {
    const { operator, broker, agents } = stage;
    assert.match(await must(operator.fleet(['remove', 'web2'])), 'restart the broker');
    broker.reload(await must(operator.fleet(['broker', 'config', '--store', broker.store])));
    const ended = await agents.web2?.done;
    assert.equal([ended?.status, /broker_refused/.test(ended?.stderr ?? '')], [1, true]);
    const again = await run('runner-agent', ['run'], { root: stage.roots.web2 as string });
    assert.equal([again.status, /broker_refused/.test(again.stderr)], [1, true]);
    const up = (await stage.fleet('status')).lines[0]?.servers as {
      server: string;
      state: string;
    }[];
    assert.equal(
      up.map(({ server, state }) => `${server} ${state}`),
      ['web1 up', 'web3 up'],
    );
  },
);

withBroker('TLS: only a broker with the right certificate is spoken to', async () => {
  const [good, foreign, other] = [
    certificates('localhost'),
    certificates('localhost'),
    certificates('other.example'),
  ];
  const port = await freePort();
  const broker = testBroker(port);
  const operator = await makeOperator(`tls://localhost:${port}`, good.ca);
  const root = temporaryFolder('web9');
  await operator.enrol('web9', root);
  const config = await must(operator.fleet(['broker', 'config', '--store', broker.store]));
  assert.match(config, /tls \{/);
  const start = ({ cert, key }: { cert: string; key: string }) =>
    broker.start(config.replace('/etc/nats/cert.pem', cert).replace('/etc/nats/key.pem', key));
  await start(good);
  await must(operator.fleet(['broker', 'check']));
  const check = async () => (await run('runner-agent', ['check'], { root })).stdout;
  const file = join(root, 'agent/agent.yml');
  const yml = readFileSync(file, 'utf8');
  assert.match(await check(), /broker {4}problem .*broker_unreachable/, 'without ca');
  writeFileSync(file, yml.replace(/(url: .*)/, `$1\n  ca: ${good.ca}`));
  assert.match(await check(), /broker {4}ok/);
  writeFileSync(file, yml.replace(/(url: .*)/, `$1\n  ca: ${foreign.ca}`));
  assert.match(await check(), /broker_unreachable/, 'another authority');
  writeFileSync(file, yml.replace(/(url: .*)/, `$1\n  ca: ${other.ca}`));
  await start(other);
  await until(async () => /altname|certificate/i.test(await check()), 'the name does not count');
  await broker.kill();
});

test.run();
