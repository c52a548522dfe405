/** Starts the load of load.ts, and says what happens while it runs. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { checkoutFolder } from '@runner/testing/run';

export type Order = 'hold' | 'deploy begins' | 'deploy over' | 'proxy stops' | 'proxy runs' | 'end';

/** What the load saw. Times in milliseconds. */
export interface Counted {
  readonly requests: number;
  readonly failed: number;
  /** Requests under way when the proxy itself was stopped. */
  readonly cut: number;
  /** The first failures in words. */
  readonly words: readonly string[];
  readonly versions: readonly string[];
  readonly switches: number;
  /** Of short requests: while nothing was deployed, during deploys, and within a second of a switch. */
  readonly p99Before: number;
  readonly p99Deploy: number;
  readonly p99Switch: number;
  /** How long after a switch the version before got new requests. */
  readonly stale: number;
  readonly streams: number;
  readonly sockets: number;
  /** From a switch to the first close of a WebSocket that was held open; Infinity if none was. */
  readonly drained: number;
}

export type Load = Awaited<ReturnType<typeof startLoad>>;

export async function startLoad(port: number, rate: number, folder: string) {
  const child = fork(
    join(checkoutFolder(), 'scripts/bundle/run.mjs'),
    ['bench/zero-drop/load.ts', String(port), String(rate), folder],
    { cwd: checkoutFolder(), serialization: 'advanced' },
  );
  const over = new AbortController();
  child.once('exit', (status) => over.abort(new Error(`the load ended with ${status}`)));
  const answer = async () => {
    const [message] = await once(child, 'message', { signal: over.signal });
    return message as Counted | null;
  };
  const send = (order: Order) => {
    child.send(order);
    return answer();
  };
  await answer();
  return {
    order: async (order: Exclude<Order, 'end'>) => void (await send(order)),
    /** Waits for the last answers. */
    end: async () => (await send('end')) as Counted,
  };
}
