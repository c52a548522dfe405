/** A load of requests that counts strictly: a reset of a connection that was used before counts too. */
import { Agent, request } from 'node:http';

export interface Counted {
  readonly requests: number;
  readonly failed: number;
  /** Of short requests, in milliseconds. */
  readonly p99: number;
  readonly versions: ReadonlySet<string>;
  /** The first failures in words. */
  readonly words: readonly string[];
}

export interface Load {
  end(): Promise<Counted>;
}

/** Short GETs on kept and on new connections, POSTs whose body comes in two parts, and 2 s requests. */
export function startLoad(port: number, perSecond: number): Load {
  const kept = new Agent({ keepAlive: true, maxSockets: 16 });
  const took: number[] = [];
  const words: string[] = [];
  const versions = new Set<string>();
  const pending = new Set<Promise<void>>();
  let requests = 0;
  let failed = 0;

  function one(path: string, agent: Agent | false, body?: string): Promise<void> {
    requests += 1;
    const began = performance.now();
    return new Promise((resolve) => {
      const fail = (why: string) => {
        failed += 1;
        if (words.length < 5) words.push(`${body ? 'POST' : 'GET'} ${path}: ${why}`);
        resolve();
      };
      const sent = request({ port, path, agent, method: body ? 'POST' : 'GET' }, (answer) => {
        answer.resume();
        answer.on('error', (error) => fail(error.message));
        answer.on('end', () => {
          const { version } = answer.headers;
          if (answer.statusCode !== 200 || typeof version !== 'string')
            return fail(`${answer.statusCode}, version ${version}`);
          versions.add(version);
          if (path === '/' && !body) took.push(performance.now() - began);
          resolve();
        });
      });
      sent.on('error', (error) => fail(error.message));
      if (body === undefined) return void sent.end();
      sent.write(body);
      setTimeout(() => sent.end(body), 200);
    });
  }

  const begin = (path: string, agent: Agent | false, body?: string) => {
    const done = one(path, agent, body).finally(() => pending.delete(done));
    pending.add(done);
  };
  let tick = 0;
  const timer = setInterval(() => {
    tick += 1;
    begin('/', kept);
    if (tick % 2 === 0) begin('/', false);
    if (tick % 4 === 0) begin('/', kept, 'x'.repeat(1024));
    if (tick % perSecond === 0) begin('/slow', false);
  }, 1750 / perSecond);
  return {
    async end() {
      clearInterval(timer);
      while (pending.size > 0) await Promise.all(pending);
      kept.destroy();
      took.sort((a, b) => a - b);
      const p99 = took[Math.floor(took.length * 0.99)] ?? Number.NaN;
      return { requests, failed, p99, versions, words };
    },
  };
}
