/**
 * Looks at the command lines and environments of all processes of this machine, again and again
 * while something runs. A process that lives for less than a few milliseconds may be missed, so
 * a test that relies on this lets it happen several times.
 */
import { Worker } from 'node:worker_threads';
import { secretForms } from './secret-search.ts';

/** A process that shows a secret. */
export interface Sighting {
  readonly pid: number;
  readonly where: 'argv' | 'environment';
  /** Its place in the list of secrets. */
  readonly secret: number;
  /** The shape of the secret, as in secretForms(). */
  readonly form: string;
  /** First word of the command line. */
  readonly command: string;
}

/** The watch while it goes on. */
export interface Watch {
  /** From now on, and for what was seen before, this process is left out. */
  except(pid: number): void;
}

interface WatchOrder {
  readonly needles: readonly { secret: number; form: string; bytes: string }[];
}

/**
 * Runs in a thread of its own, from its source text: a bundled test is one file, from which no
 * second one can be started. It must not refer to anything outside itself.
 */
function sample(): void {
  const { readdirSync, readFileSync } = require('node:fs') as typeof import('node:fs');
  const { parentPort, workerData } =
    require('node:worker_threads') as typeof import('node:worker_threads');
  const { needles } = workerData as WatchOrder;
  const seen = new Map<string, unknown>();
  // How often each process was looked at.
  let looks = new Map<string, number>();
  let rounds = 0;
  let stopped = false;

  const read = (path: string): string => {
    try {
      return readFileSync(path, 'latin1');
    } catch {
      // It has ended meanwhile, or it is not ours to read.
      return '';
    }
  };

  const parentOf = (pid: string) => /^PPid:\s*(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1];

  const look = (pid: string) => {
    const argv = read(`/proc/${pid}/cmdline`);
    const command = argv.split('\0', 1)[0] ?? '';
    const sightings: [key: string, sighting: unknown][] = [];
    for (const [where, text] of [
      ['argv', argv],
      ['environment', read(`/proc/${pid}/environ`)],
    ] as const) {
      for (const { secret, form, bytes } of needles) {
        if (text.includes(bytes)) {
          const sighting = { pid: Number(pid), where, secret, form, command };
          sightings.push([`${pid} ${where} ${secret} ${form}`, sighting]);
        }
      }
    }
    // Until it runs its own program, a child shows the argv and environment of its parent.
    if (sightings.length === 0) return;
    const parent = parentOf(pid);
    const isForked = parent === undefined || argv === read(`/proc/${parent}/cmdline`);
    // What has begun its program meanwhile is looked at in the next round.
    if (isForked || argv !== read(`/proc/${pid}/cmdline`)) return;
    for (const [key, sighting] of sightings) seen.set(key, sighting);
  };

  const round = () => {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const next = new Map<string, number>();
    for (const pid of pids) {
      const times = looks.get(pid) ?? 0;
      // An older process may start another program too, but is looked at less often.
      if (times < 8 || rounds % 16 === 0) look(pid);
      next.set(pid, rounds === 0 ? 8 : times + 1);
    }
    looks = next;
    rounds += 1;
  };

  parentPort?.on('message', () => {
    stopped = true;
  });
  const loop = () => {
    round();
    if (stopped) parentPort?.postMessage({ rounds, seen: [...seen.values()] });
    else {
      if (rounds === 1) parentPort?.postMessage('watching');
      // Without a pause it would take a whole processor from what it watches.
      setTimeout(loop, 2);
    }
  };
  loop();
}

/**
 * Calls `action` and watches until its promise settles. Sightings of any of the `secrets`, in any
 * form, in a process other than this one and those excepted; `rounds` counts how often it looked.
 */
export async function watchProcesses<T>(
  secrets: readonly (string | Uint8Array)[],
  action: (watch: Watch) => Promise<T>,
): Promise<{ value: T; sightings: Sighting[]; rounds: number }> {
  const needles = secrets.flatMap((text, secret) =>
    secretForms(text).map(({ form, bytes }) => ({ secret, form, bytes: bytes.toString('latin1') })),
  );
  const order: WatchOrder = { needles };
  const worker = new Worker(`(${sample.toString()})()`, { eval: true, workerData: order });
  const excepted = new Set([process.pid]);
  try {
    await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    const value = await action({ except: (pid) => void excepted.add(pid) });
    const result = new Promise<{ rounds: number; seen: Sighting[] }>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    worker.postMessage('stop');
    const { rounds, seen } = await result;
    return { value, rounds, sightings: seen.filter(({ pid }) => !excepted.has(pid)) };
  } finally {
    await worker.terminate();
  }
}
