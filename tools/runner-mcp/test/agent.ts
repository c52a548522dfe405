/** An agent of the protocol's own client, against the built executable. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  getDefaultEnvironment,
  StdioClientTransport,
} from '@modelcontextprotocol/sdk/client/stdio.js';
import { orElse } from '@runner/common/foundation/attempt';
import { distFolder, run } from '@runner/testing/run';
import * as assert from 'uvu/assert';

export interface Answer {
  readonly text: string;
  readonly isError: boolean;
}

export interface Agent {
  readonly client: Client;
  readonly pid: number;
  call(tool: string, args?: object): Promise<Answer>;
  close(): Promise<void>;
}

/** Of all processes, with spaces between the words. */
export function commandLines(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const read = (pid: string) => readFileSync(join('/proc', pid, 'cmdline'), 'latin1');
  return pids.map((pid) => orElse(() => read(pid).replaceAll('\0', ' '), ''));
}

/** Tokens of a text by the rule of the documentation: 3.5 bytes each. */
export const tokensOf = (text: string) => Math.ceil(Buffer.byteLength(text) / 3.5);

/** What is between the two lines of the boundary, which the text has nowhere else. */
export function dataOf(text: string): string {
  const [, boundary = '', data = ''] =
    /^Between the lines (data-[0-9a-f]{24}) is data [^\n]*\n\1\n([\s\S]*)\n\1$/.exec(text) ?? [];
  assert.is.not(boundary, '', text);
  assert.not.ok(data.includes(boundary));
  return data;
}

/** An agent for as long as `work` takes. */
export async function withAgent(
  place: { root: string; etc?: string; grant?: string },
  work: (agent: Agent) => Promise<void>,
  command?: readonly [string, ...string[]],
): Promise<void> {
  const agent = await startAgent(place, command);
  try {
    await work(agent);
  } finally {
    await agent.close();
  }
}

/** Cuts sessions at each step of a plan; `look` sees what is left after each, which was cut after `wait` ms. */
export async function cutSessions(
  [file, ...args]: readonly [string, ...string[]],
  look: (wait: number) => Promise<void>,
): Promise<void> {
  const message = (id: number, method: string, params: object) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
  const hello = message(1, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  });
  const call = message(2, 'tools/call', {
    name: 'plan',
    arguments: { app: 'shop', verb: 'restart' },
  });
  for (const [words, wait] of [
    ['', 0],
    ['', 400],
    [hello, 600],
    [hello + call.slice(0, 40), 600],
    [hello + call, 500],
    [hello + call, 900],
    [hello + call, 1_500],
  ] as const) {
    const client = spawn(file, args, { stdio: ['pipe', 'ignore', 'ignore'] });
    client.stdin.on('error', () => {});
    client.stdin.write(words);
    await new Promise((resolve) => setTimeout(resolve, wait));
    client.kill('SIGKILL');
    await look(wait);
  }
}

async function startAgent(
  place: { root: string; etc?: string; grant?: string },
  command: readonly [string, ...string[]] = [join(distFolder(), 'bin/runner-mcp')],
): Promise<Agent> {
  const [file, ...first] = command;
  const args = [...first, ...(place.grant ? ['--grant', place.grant] : [])];
  const env = { ...getDefaultEnvironment(), RUNNER_ROOT: place.root, RUNNER_ETC: place.etc ?? '' };
  const transport = new StdioClientTransport({ command: file, args, env, stderr: 'ignore' });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return {
    client,
    pid: transport.pid ?? 0,
    async call(name, given = {}) {
      const answer = await client.callTool({ name, arguments: { ...given } }, undefined, {
        timeout: 120_000,
      });
      const [{ text }] = answer.content as [{ text: string }];
      return { text, isError: answer.isError === true };
    },
    close: () => client.close(),
  };
}

/** Adds a grant, as root does. */
export async function addGrant(
  { root, etc }: { root: string; etc: string },
  name: string,
  level: string,
  ...apps: string[]
): Promise<void> {
  const args = ['add', name, '--level', level, '--app', apps.join()];
  const { status, stderr } = await run('runner-grant', args, { root, env: { RUNNER_ETC: etc } });
  assert.is(status, 0, stderr);
}
