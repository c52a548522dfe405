/** Showing the output of a program, which shows that of an app. */

import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { poll } from '@runner/common/foundation/poll';
import { endGroup } from '../run/child.ts';
import { spawnCutOff } from '../run/outside.ts';
import type { ShowText } from './followed.ts';
import type { OutputProgram } from './output.ts';

/** Between two looks at a program's end, in milliseconds. */
const LOOK = 50;
/** Before a program is started again that shows nothing, in milliseconds. */
const AGAIN = 500;

/** Shows what a program prints, until it or a signal ends it. Returns the exit status. */
export async function showProgram(
  io: Pick<Io, 'onSignal' | 'stdout'>,
  first: OutputProgram,
  follow: boolean,
  show: ShowText,
): Promise<number> {
  let running = started(first, show);
  let rest = 0;
  const stopped = await poll(io, async () => {
    await sleep(LOOK);
    if (running.status === undefined) return 'more';
    if (running.problem !== undefined) throw new Failure('log_not_found', running.problem);
    if (!follow || !first.again) return 'end';
    // Nothing runs at the moment: a container that is replaced.
    rest += LOOK;
    if (rest < AGAIN) return 'more';
    rest = 0;
    running = started(first.again(running.ended), show);
    return 'more';
  });
  running.end();
  return stopped || (running.status ?? 0);
}

interface RunningProgram {
  status: number | undefined;
  problem: string | undefined;
  ended: string;
  end(): void;
}

function started(shown: OutputProgram, show: ShowText): RunningProgram {
  const child = spawnCutOff(shown, shown.confinement, ['ignore', 'pipe', 'pipe'], {
    detached: true,
  });
  const running: RunningProgram = {
    status: undefined,
    problem: undefined,
    ended: '',
    end() {
      if (running.status === undefined) endGroup(child.pid, 'SIGTERM');
    },
  };
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder('utf8');
    stream?.on('data', (chunk: Buffer) => show(decoder.write(chunk)));
  }
  child.once('error', (error: NodeJS.ErrnoException) => {
    running.problem = `${shown.file} could not be started (${error.code})`;
    running.status ??= 1;
  });
  child.once('exit', () => {
    running.ended = new Date().toISOString();
  });
  child.once('close', (code) => {
    running.status ??= code ?? 0;
  });
  return running;
}
