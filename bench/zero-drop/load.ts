/**
 * A load that counts strictly, as a process of its own so that what the bench does meanwhile does not
 * slow it down: a reset of a connection that was used before counts as well. Arguments: the port, requests a
 * second, and the folder whose `live` is renamed. The other side is load-control.ts.
 */
import { watch } from 'node:fs';
import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import type { Counted, Order } from './load-control.ts';

const [port = 0, perSecond = 0] = process.argv.slice(2, 4).map(Number);
const folder = process.argv[4] as string;
/** Every connection is used all the time: none idles until the proxy closes it. */
const kept = new Agent({ keepAlive: true, maxSockets: 16, scheduling: 'fifo' });

/** A request, from its beginning to its end, in ms of performance.now(). */
interface Life {
  readonly what: string;
  readonly begun: number;
  ended: number;
  problem?: string;
  version?: string;
}

const lives: Life[] = [];
const pending = new Set<Promise<void>>();
/** Times at which `live` was renamed. */
const switches: number[] = [];
/** Times of deploys and of restarts of the proxy. */
const deploys: [from: number, to: number][] = [];
const restarts: [from: number, to: number][] = [];
let isPaused = false;
const now = () => performance.now();

watch(folder, (_event, name) => name === 'live' && switches.push(now()));

function begin(what: string, run: (life: Life, done: (problem?: string) => void) => void): void {
  const life: Life = { what, begun: now(), ended: Number.POSITIVE_INFINITY };
  lives.push(life);
  const over = new Promise<void>((resolve) =>
    run(life, (problem) => {
      if (life.ended < Number.POSITIVE_INFINITY) return;
      life.ended = now();
      if (problem !== undefined) life.problem = problem;
      resolve();
    }),
  ).finally(() => pending.delete(over));
  pending.add(over);
}

function ask(what: string, path: string, agent: Agent | false, half?: string): void {
  begin(what, (life, done) => {
    const headers = half ? { 'content-length': half.length * 2 } : {};
    const method = half ? 'POST' : 'GET';
    const sent = request({ port, path, agent, method, headers }, (answer) => {
      answer.resume();
      answer.on('error', (error) => done(error.message));
      answer.on('end', () => {
        life.version = String(answer.headers.version);
        done(answer.statusCode === 200 ? undefined : `status ${answer.statusCode}`);
      });
    });
    sent.on('error', (error) => done(error.message));
    if (half === undefined) return void sent.end();
    sent.write(half);
    setTimeout(() => sent.end(half), 200);
  });
}

const CLOSE = Buffer.from([0x88, 0x80, 0, 0, 0, 0]);

/** A WebSocket that the client closes after `limit` ms; without a limit the server has to. */
function upgrade(what: string, limit?: number): void {
  begin(what, (life, done) => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.from('the load of bench').toString('base64').slice(0, 24),
    };
    const sent = request({ port, path: '/ws', agent: false, headers });
    sent.on('error', (error) => done(error.message));
    sent.on('response', ({ statusCode }) => done(`status ${statusCode}`));
    sent.on('upgrade', (_answer, socket: Socket) => {
      let hasAsked = false;
      socket.on('data', (bytes) => {
        if (bytes.readUInt8() % 16 === 1) life.version ??= bytes.subarray(2).toString();
      });
      socket.on('error', () => {});
      socket.on('close', () => done(hasAsked || limit === undefined ? undefined : 'was closed'));
      if (limit === undefined) return;
      setTimeout(() => {
        hasAsked = true;
        socket.end(CLOSE);
      }, limit);
    });
    sent.end();
  });
}

let tick = 0;
const timer = setInterval(() => {
  if (isPaused) return;
  tick += 1;
  ask('short', '/', kept);
  if (tick % 2 === 0) ask('short', '/', false);
  if (tick % 4 === 0) ask('POST', '/', kept, 'x'.repeat(1024));
  if (tick % 50 === 0) ask('2 s', '/slow', false);
  if (tick % 100 === 0) upgrade('WebSocket', 2000);
}, 1750 / perSecond);

function hold(): void {
  for (let count = 0; count < 4; count += 1) {
    ask('stream', '/stream', false);
    upgrade('held');
  }
}

function p99(all: readonly Life[]): number {
  const took = all.map(({ begun, ended }) => ended - begun).sort((a, b) => a - b);
  return took[Math.floor(took.length * 0.99)] ?? Number.NaN;
}

/** Around a switch, in ms, during which latencies count as those of the switch. */
const AROUND = 1000;

function count(): Counted {
  const within = (at: number, spans: typeof deploys) =>
    spans.some(([from, to]) => at >= from && at <= to);
  const overlaps = ({ begun, ended }: Life) =>
    restarts.some(([from, to]) => begun <= to && ended >= from);
  const failures = lives.filter(({ problem }) => problem !== undefined);
  const cut = failures.filter(overlaps);
  const failed = failures.filter((life) => !cut.includes(life));
  const short = lives.filter(({ what, problem }) => what === 'short' && problem === undefined);
  const near = switches.map((at): [number, number] => [at - AROUND, at + AROUND]);
  const busy = [...near, ...deploys];
  const held = lives.filter(({ what }) => what === 'held');
  const drained = held.flatMap(({ begun, ended }) => {
    const at = switches.find((each) => each > begun);
    return at === undefined ? [] : [ended - at];
  });
  return {
    requests: lives.length,
    failed: failed.length,
    cut: cut.length,
    words: failed.slice(0, 5).map(({ what, problem }) => `${what}: ${problem}`),
    versions: [...new Set(short.map(({ version }) => version ?? ''))],
    switches: switches.length,
    p99Before: p99(short.filter(({ begun }) => !within(begun, busy))),
    p99Deploy: p99(short.filter(({ begun }) => within(begun, deploys))),
    p99Switch: p99(short.filter(({ begun }) => within(begun, near))),
    stale: stale(short),
    streams: lives.filter(({ what }) => what === 'stream').length,
    sockets: lives.filter(({ what }) => what === 'WebSocket').length + held.length,
    drained: Math.min(...drained),
  };
}

/** How long after a switch a request begun later was still answered by the version before. */
function stale(short: readonly Life[]): number {
  let longest = 0;
  for (const [index, at] of switches.entries()) {
    const before = short.findLast(({ ended }) => ended < at)?.version;
    const next = switches[index + 1] ?? Number.POSITIVE_INFINITY;
    for (const { begun, version } of short)
      if (begun > at && begun < next && version === before) longest = Math.max(longest, begun - at);
  }
  return longest;
}

process.on('message', async (order: Order) => {
  if (order === 'hold') hold();
  if (order === 'deploy begins') deploys.push([now(), Number.POSITIVE_INFINITY]);
  if (order === 'deploy over') (deploys.at(-1) as [number, number])[1] = now();
  if (order === 'proxy stops') restarts.push([now(), Number.POSITIVE_INFINITY]);
  if (order === 'proxy runs') (restarts.at(-1) as [number, number])[1] = now();
  if (order.startsWith('proxy')) isPaused = order === 'proxy stops';
  if (order === 'end') {
    clearInterval(timer);
    while (pending.size > 0) await Promise.all(pending);
  }
  process.send?.(order === 'end' ? count() : null, () => order === 'end' && process.exit());
});
process.send?.(null);
