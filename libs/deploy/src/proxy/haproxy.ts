/** The counters of a backend of HAProxy, asked at its stats socket. */
import type { WatchRules } from '@runner/common/deploy-file/watch';

/** Longest time for an answer, in ms, and its limit in bytes. */
const PATIENCE = 2_000;
const ANSWER_MAX = 4_194_304;

/** What a backend has answered since HAProxy was started. */
export interface HaproxyCounters {
  readonly failed: number;
  readonly all: number;
}

/** The counters of a backend in the answer to `show stat`, which is CSV; undefined if it is not there. */
export function countersIn(csv: string, backend: string): HaproxyCounters | undefined {
  // Without what is not a whole line: an answer that was cut short has half a number at its end.
  const [head = '', ...rows] = csv.split('\n').slice(0, -1);
  const names = head.replace(/^# /, '').split(',');
  const cells = rows
    .map((row) => row.split(','))
    .find((row) => row[0] === backend && row[1] === 'BACKEND');
  if (!cells) return undefined;
  const of = (name: string) => Number(cells[names.indexOf(name)] || 0);
  const all = ['1xx', '2xx', '3xx', '4xx', '5xx', 'other'].map((kind) => of(`hrsp_${kind}`));
  return { failed: of('hrsp_5xx'), all: all.reduce((sum, count) => sum + count, 0) };
}

function ask(path: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = process.getBuiltinModule('node:net').connect({ path });
    let answer = '';
    const end = () => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PATIENCE, end);
    socket.on('connect', () => socket.write('show stat\n'));
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('utf8');
      if (answer.length > ANSWER_MAX) end();
    });
    socket.on('error', end);
    socket.on('close', end);
  });
}

type Haproxy = NonNullable<WatchRules['haproxy']>;

/** The counters now; undefined if it says nothing of the backend. */
export async function haproxyCounters({ socket, backend }: Haproxy) {
  return countersIn(await ask(socket), backend);
}
