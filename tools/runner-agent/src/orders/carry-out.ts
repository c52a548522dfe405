/** Carries an order out with the executables beside this one. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { EXIT } from '@runner/common/foundation/failure';
import { type JsonObject, jsonObject } from '@runner/common/text/json';
import type { Order, SealedOrder } from '@runner/fleet/order/order';
import type { Result, Status } from '@runner/fleet/order/result';
import type { Agent } from './agent.ts';

/** What a result says of the work. */
export type Work = Pick<
  Result,
  | 'status'
  | 'code'
  | 'message'
  | 'deploy_id'
  | 'version'
  | 'previous_version'
  | 'commit'
  | 'duration_ms'
  | 'rollback_failed'
>;

/** The deploy's id on this server: the same order again is the same deploy. */
export function deployIdOf({ id }: Order, server: string): string {
  return createHash('sha256').update(`${id} ${server}`).digest('hex').slice(0, 8);
}

/** The words of each verb's command, without its options. */
function argumentsOf({ verb, app, ref, reason }: Order, deployId: string): [string, ...string[]] {
  const identified = [app, '--deploy-id', deployId, '--trigger', 'fleet'];
  if (verb === 'deploy') return ['runner-deploy', ...identified, '--ref', ref, '--wait', '10m'];
  if (verb === 'rollback') return ['runner-rollback', ...identified, ...(ref ? ['--to', ref] : [])];
  if (verb === 'unhold') return ['runner-resume', app];
  return ['runner-pause', app, ...(reason ? ['--reason', reason] : [])];
}

/** Runs a tool beside this one to its end: its status, and the last object that it printed. */
export function runTool(
  { io, paths }: Pick<Agent, 'io' | 'paths'>,
  [tool, ...args]: readonly [string, ...string[]],
  { env, each }: { env?: Record<string, string>; each?: (line: JsonObject) => void } = {},
): Promise<{ status: number | null; last: JsonObject }> {
  const child = spawn(join(dirname(io.program), tool), [...args, '--json', '--root', paths.root], {
    // Outlives the agent, which finds its end in the log.
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...io.env, ...env },
  });
  let text = '';
  let last: JsonObject = {};
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (text + piece).split('\n');
    // A line is far shorter.
    text = (lines.pop() ?? '').slice(-1_048_576);
    for (const line of lines) {
      last = jsonObject(line) ?? last;
      each?.(last);
    }
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, last: jsonObject(text) ?? last }));
  });
}

/** Longest message of a result, in characters; the whole error is in the server's log. */
const MESSAGE_MAX = 300;

export async function carryOut(agent: Agent, sealed: SealedOrder, order: Order): Promise<Work> {
  const began = agent.io.elapsed();
  const tool = argumentsOf(order, deployIdOf(order, agent.config.server));
  const { status, last } = await runTool(agent, tool, {
    env: { RUNNER_INITIATOR: sealed.by },
    each: ({ step, status: word }) => {
      if (word === 'started') agent.step?.(order, String(step));
    },
  });
  const text = (field: string) =>
    typeof last[field] === 'string' ? (last[field] as string) : null;
  const code = text('message') === null ? null : text('error');
  const message = text('message') ?? [text('stage'), text('error')].filter(Boolean).join(': ');
  return {
    status: statusOf(order, status, text('result'), code),
    code,
    message: (message.split('\n')[0] ?? '').slice(0, MESSAGE_MAX),
    deploy_id: text('deploy_id'),
    version: text('version'),
    previous_version: text('previous_version') ?? text('from_version'),
    commit: text('commit') ?? (order.verb === 'deploy' ? order.ref : null),
    duration_ms: Math.round(agent.io.elapsed() - began),
    rollback_failed: status === EXIT.rollbackFailed,
  };
}

function statusOf(
  { verb }: Order,
  status: number | null,
  result: string | null,
  code: string | null,
): Status {
  if (code === 'paused') return 'held';
  if (status === EXIT.ok && verb === 'hold') return 'paused';
  if (status === EXIT.ok && verb === 'unhold') return 'resumed';
  if (status === EXIT.ok && result === 'unchanged') return 'up_to_date';
  return result === 'deployed' || result === 'rolled_back' ? result : 'failed';
}
