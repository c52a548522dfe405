/** The agent, the broker or the operator's command killed in an order's life: each order is one deploy, with one answer. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasBroker, whenBroker } from '@runner/testing/broker';
import { preloading, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld, type World } from '../deploys/world.ts';
import { lines, makeStage, type Stage } from './stage.ts';

/** What an agent does with an order, in turn, and where it is seen. */
const STEPS = [
  'before ssh-keygen',
  'before file 1',
  'after file 1',
  'after runner-deploy',
  'during runner-deploy',
  'before file 2',
  'after file 2',
  'before runner.result.',
  'after runner.result.',
  'before +ACK',
  'after +ACK',
] as const;

/**
 * Loaded into an agent: kills a process at the step in the file ARMED, once. `file`: the order's file is written for
 * the first or second time; others: a program is started, or a text is sent to the broker.
 */
const HOOK = `const fs = require('node:fs'), net = require('node:net'), processes = require('node:child_process');
const { renameSync, readFileSync, rmSync } = fs, { spawn } = processes, { write } = net.Socket.prototype;
const armed = () => { try { return JSON.parse(readFileSync(process.env.ARMED, 'utf8')); } catch { return {}; } };
const shoot = (pid) => { files = 0; rmSync(process.env.ARMED); process.kill(pid ?? process.pid, 'SIGKILL'); };
let files = 0;
function around(name, body) {
  const { step, pid } = armed();
  if (step === undefined) return body();
  if (step === 'before ' + name) shoot(pid);
  const done = body();
  if (step === 'after ' + name) shoot(pid);
  if (step === 'during ' + name) setTimeout(() => shoot(pid), Math.random() * 1500);
  return done;
}
fs.renameSync = (from, to) => {
  if (!/agent\\/orders\\/r-/.test(to)) return renameSync(from, to);
  if (armed().step !== undefined) files += 1;
  return around('file ' + files, () => renameSync(from, to));
};
processes.spawn = (file, ...rest) => around(file.split('/').pop(), () => spawn(file, ...rest));
net.Socket.prototype.write = function (data, ...rest) {
  const text = Buffer.from(data).toString('latin1');
  const name = ['runner.result.', '+ACK'].find((each) => text.includes(each));
  const body = () => write.call(this, data, ...rest);
  return name ? around(name, body) : body();
};
`;

const SERVERS = STEPS.map((_, index) => `web${index + 1}`);
/** Of each step. */
const KILLS = Number(process.env.FLEET_STEP_KILLS ?? 1);
const BROKER_KILLS = Number(process.env.FLEET_BROKER_KILLS ?? 1);
const COMMAND_KILLS = Number(process.env.FLEET_COMMAND_KILLS ?? 3);
/** In ms: longer than the command lives. */
const LONGEST = 2_000;

interface Scene extends Stage {
  world: World;
  hook: string;
}
const test = suite<Scene>('kill steps');
const withBroker = whenBroker(test);

test.before(async (scene) => {
  if (!hasBroker()) return;
  const world = await makeWorld();
  const hook = join(temporaryFolder('hook'), 'kill.cjs');
  writeFileSync(hook, HOOK);
  Object.assign(scene, await makeStage(SERVERS, { world }), { world, hook });
  for (const server of SERVERS) await startAgent(scene, server);
});
test.after(async ({ close, world }) => {
  await close?.();
  await world?.close();
});

const armedOf = ({ roots }: Stage, server: string) => join(roots[server] as string, 'armed');
const startAgent = (scene: Scene, server: string) =>
  scene.startAgent(server, { ...preloading(scene.hook), ARMED: armedOf(scene, server) });

let orders = 0;

/** Sends a deploy of a new commit to servers; with `kill` that command is killed after so many ms, and repeated. */
async function order({ world, operator }: Scene, servers: readonly string[], kill?: number) {
  orders += 1;
  const version = `v${orders}`;
  const ref = await world.push(version, { deploy: 'build: sleep 0.2\n' });
  const stdin = operator.signed('deploy', 'shop', { ref, servers });
  const send = () =>
    start('runner-fleet', ['send', '--wait', '170s', '--json'], {
      ...{ root: operator.root, stdin, timeout: 180_000 },
    });
  if (kill !== undefined) {
    const killed = send();
    await new Promise((resolve) => setTimeout(resolve, kill));
    killed.kill('SIGKILL');
    await killed.done;
  }
  return { version, answers: send().done.then(({ stdout }) => lines(stdout)) };
}

/** Ids of the deploys of a version that a server began. */
function begun({ log }: Stage, server: string, version: string): unknown[] {
  const records = lines(readFileSync(log(server), 'utf8'));
  return records
    .filter(({ event_type: kind, version: of }) => kind === 'DeployStarted' && of === version)
    .map(({ deploy_id: id }) => id);
}

async function onceEach(
  scene: Scene,
  servers: readonly string[],
  sent: Awaited<ReturnType<typeof order>>,
  what: string,
) {
  const answers = await sent.answers;
  const got = Object.fromEntries(answers.map(({ server, status }) => [server, status]));
  assert.equal(got, Object.fromEntries(servers.map((server) => [server, 'deployed'])), what);
  for (const { server, deploy_id: id } of answers)
    assert.equal(begun(scene, String(server), sent.version), [id], `${what}: ${server}`);
}

withBroker(
  `an agent killed at each step, ${KILLS} times: one deploy of each order`,
  async (scene) => {
    for (let round = 0; round < KILLS; round += 1) {
      for (const [index, server] of SERVERS.entries())
        writeFileSync(armedOf(scene, server), JSON.stringify({ step: STEPS[index] }));
      const sent = await order(scene, SERVERS);
      await Promise.all(
        SERVERS.map(async (server) => {
          const ended = await scene.agents[server]?.done;
          assert.is(ended?.signal, 'SIGKILL', ended?.stderr);
          assert.not(existsSync(armedOf(scene, server)));
          await startAgent(scene, server);
        }),
      );
      await onceEach(scene, SERVERS, sent, `round ${round}`);
      if (KILLS > 1) process.stdout.write(`${(round + 1) * SERVERS.length} kills of agents\n`);
    }
  },
);

withBroker(
  `the broker killed at each step, ${BROKER_KILLS} times: one deploy of each order`,
  async (scene) => {
    const [server] = SERVERS as [string];
    for (let round = 0; round < BROKER_KILLS; round += 1)
      for (const step of STEPS) {
        writeFileSync(armedOf(scene, server), JSON.stringify({ step, pid: scene.broker.pid() }));
        const sent = await order(scene, [server]);
        await until(() => !existsSync(armedOf(scene, server)), `${step} is not reached`);
        await scene.broker.kill();
        await scene.startBroker();
        await onceEach(scene, [server], sent, step);
        if (BROKER_KILLS > 1) process.stdout.write(`kill ${round + 1} of the broker ${step}\n`);
      }
  },
);

withBroker(
  `the command that sends killed ${COMMAND_KILLS} times, and repeated: one deploy of each order`,
  async (scene) => {
    const servers = SERVERS.slice(0, 2);
    for (let round = 1; round <= COMMAND_KILLS; round += 1) {
      const sent = await order(scene, servers, (LONGEST / COMMAND_KILLS) * round);
      await onceEach(scene, servers, sent, `round ${round}`);
    }
  },
);

withBroker('after all kills the events in the broker are the logs, byte by byte', async (scene) => {
  const central = async (server: string) =>
    (await scene.operator.fleet(['events', '--raw', '--server', server])).stdout;
  for (const server of SERVERS) {
    const isEqual = async () => (await central(server)) === readFileSync(scene.log(server), 'utf8');
    await until(isEqual, `${server} differs`);
  }
  const { status, stdout } = await scene.operator.fleet(['verify']);
  assert.is(status, 0, stdout);
  process.stdout.write(stdout);
});

test.run();
