/** A broker, an operator and agents on this machine; with a `world` they deploy what its git server has. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@runner/testing/app';
import { type TestBroker, testBroker } from '@runner/testing/broker';
import { type Ended, type RunningCommand, run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { REPO, TOKEN, type World } from '../deploys/world.ts';
import { makeOperator, must, type Operator } from './world.ts';

export interface Stage {
  readonly operator: Operator;
  readonly broker: TestBroker;
  /** Roots by server. */
  readonly roots: Record<string, string>;
  readonly agents: Record<string, RunningCommand>;
  /** Prints the configuration and starts the broker, or restarts it, with it. */
  startBroker(): Promise<void>;
  startAgent(server: string, env?: Record<string, string>): Promise<RunningCommand>;
  /** Ends it alone: what it began goes on. */
  killAgent(server: string): Promise<void>;
  /** An operator's command with --json, and the objects that it printed. */
  fleet(...args: string[]): Promise<Ended & { lines: Record<string, unknown>[] }>;
  log(server: string, name?: string): string;
  close(): Promise<void>;
}

/** Longest life of an agent, in ms. */
const LIFE = 3_600_000;

export interface StageOptions {
  /** Without it the servers have no app. */
  readonly world?: World;
  /** Where the agents reach the broker, if not directly. */
  readonly agentUrl?: (url: string) => Promise<string>;
}

/** Starts the broker, and adds the servers; their agents do not run yet. */
export async function makeStage(
  servers: readonly string[],
  { world, agentUrl }: StageOptions = {},
): Promise<Stage> {
  const broker = testBroker(await freePort());
  const operator = await makeOperator(broker.url);
  const url = await agentUrl?.(broker.url);
  const roots: Record<string, string> = {};
  const agents: Record<string, RunningCommand> = {};
  for (const server of servers) {
    const root = join(temporaryFolder(server), 'root');
    roots[server] = root;
    mkdirSync(root);
    if (world) {
      const config = `code_host_git_url: ${world.git.url}\n`;
      writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
      const args = ['--repo', REPO, '--branch', 'main', '--token', '-'];
      await must(run('runner-add', args, { root, stdin: TOKEN }));
    }
    await operator.enrol(server, root, 'web', url);
  }
  const startBroker = async () =>
    broker.start(await must(operator.fleet(['broker', 'config', '--store', broker.store])));
  await startBroker();
  await must(operator.fleet(['broker', 'check']));
  return {
    operator,
    broker,
    roots,
    agents,
    startBroker,
    async startAgent(server, env) {
      const agent = start('runner-agent', ['run'], {
        root: roots[server] as string,
        timeout: LIFE,
        ...(env && { env }),
      });
      agents[server] = agent;
      await until(
        () => agent.stderr().includes('is connected'),
        () => agent.stderr(),
      );
      return agent;
    },
    async killAgent(server) {
      const agent = agents[server] as RunningCommand;
      process.kill(agent.pid, 'SIGKILL');
      await agent.done;
    },
    async fleet(...args) {
      const ended = await operator.fleet([...args, '--json']);
      return { ...ended, lines: lines(ended.stdout) };
    },
    log: (server, name = 'deploy-events.jsonl') => join(roots[server] as string, 'logs', name),
    async close() {
      for (const agent of Object.values(agents)) agent.kill('SIGKILL');
      await broker.kill();
    },
  };
}

/** The objects of NDJSON. */
export const lines = (stdout: string) =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
