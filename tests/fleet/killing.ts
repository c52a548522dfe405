/** Kills at the steps of an order's life, and what must be so afterwards: one deploy of each order, one answer, equal logs. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { preloading, type RunningCommand, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import type { World } from '../deploys/world.ts';
import { lines, type Stage } from './stage.ts';

/** What an agent does with an order, in turn, and where it is seen. */
export const STEPS = [
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

let hook: string | undefined;
const armedOf = ({ roots }: Stage, server: string) => join(roots[server] as string, 'armed');

/** Starts an agent that can be armed. */
export function startArmable(stage: Stage, server: string) {
  if (hook === undefined) {
    hook = join(temporaryFolder('hook'), 'kill.cjs');
    writeFileSync(hook, HOOK);
  }
  return stage.startAgent(server, { ...preloading(hook), ARMED: armedOf(stage, server) });
}

/** Lets a server's agent kill itself, or `pid`, at a step. */
export function arm(stage: Stage, server: string, step: string, pid?: number): void {
  writeFileSync(armedOf(stage, server), JSON.stringify({ step, pid }));
}

/** Whether it has not killed yet. */
export const isArmed = (stage: Stage, server: string) => existsSync(armedOf(stage, server));

export interface Sent {
  readonly version: string;
  readonly answers: Promise<Record<string, unknown>[]>;
}

let orders = 0;
let pushed: Promise<unknown> = Promise.resolve();

/** Orders a deploy of a new commit. With `kill`, the command is killed after that many ms, and repeated. */
export async function sendOrder(
  world: World,
  { operator }: Stage,
  servers: readonly string[],
  kill?: number,
): Promise<Sent> {
  orders += 1;
  const version = `v${orders}`;
  const push = pushed.then(() => world.push(version, { deploy: 'build: sleep 0.2\n' }));
  pushed = push;
  const stdin = operator.signed('deploy', 'shop', { ref: await push, servers });
  const send = () =>
    start('runner-fleet', ['send', '--wait', '170s', '--json'], {
      root: operator.root,
      stdin,
      timeout: 180_000,
    });
  if (kill !== undefined) {
    const killed = send();
    await new Promise((resolve) => setTimeout(resolve, kill));
    killed.kill('SIGKILL');
    await killed.done;
  }
  return { version, answers: answersOf(send) };
}

/** Repeated if the broker is down when it connects: an older order that is acknowledged again may have been its end. */
async function answersOf(send: () => RunningCommand): Promise<Record<string, unknown>[]> {
  const answers = lines((await send().done).stdout);
  return answers[0]?.error === 'broker_unreachable' ? answersOf(send) : answers;
}

/** Ids of the deploys of a version that a server began. */
function begun({ log }: Stage, server: string, version: string): unknown[] {
  const records = lines(readFileSync(log(server), 'utf8'));
  return records
    .filter(({ event_type: kind, version: of }) => kind === 'DeployStarted' && of === version)
    .map(({ deploy_id: id }) => id);
}

/** Every server has answered, and has begun one deploy: that of its answer. */
export async function onceEach(
  stage: Stage,
  servers: readonly string[],
  { answers, version }: Sent,
  what: string,
): Promise<void> {
  const all = await answers;
  const got = Object.fromEntries(all.map(({ server, status }) => [server, status]));
  const wanted = Object.fromEntries(servers.map((server) => [server, 'deployed']));
  assert.equal(got, wanted, `${what}: ${JSON.stringify(all)}`);
  for (const { server, deploy_id: id } of all)
    assert.equal(begun(stage, String(server), version), [id], `${what}: ${server}`);
}

/** The events in the broker are the logs, byte by byte, and no result is missing or doubled. */
export async function logsAreEqual(stage: Stage, servers: readonly string[]): Promise<void> {
  for (const server of servers)
    await until(
      async () =>
        (await stage.operator.fleet(['events', '--raw', '--server', server])).stdout ===
        readFileSync(stage.log(server), 'utf8'),
      `the events of ${server} are not its log`,
    );
  const { status, stdout } = await stage.operator.fleet(['verify']);
  assert.is(status, 0, stdout);
}
