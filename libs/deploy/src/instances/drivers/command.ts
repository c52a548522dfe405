/** `start.type: command`: any command that makes an existing supervisor take the new release. */
import { runStep, shellStep } from '../../run/step.ts';
import type { Driver } from './driver.ts';

/** Time limit of `stop`, in milliseconds. */
const STOP_TIMEOUT = 60_000;

export const commandDriver: Driver = {
  async start({ start, release, env, log, signal }) {
    if (start.type !== 'command') return { death: () => undefined };
    await runStep(
      log,
      signal,
      shellStep({
        stage: 'start',
        command: start.run,
        cwd: release,
        env,
        timeout: start.timeout,
      }),
    );
    return { death: () => undefined };
  },
  async stop({ stop, release, env, log, signal }) {
    if (stop === undefined) return;
    await runStep(
      log,
      signal,
      shellStep({
        stage: 'start',
        command: stop,
        cwd: release,
        env,
        timeout: STOP_TIMEOUT,
      }),
    );
  },
  status: () => 'unknown',
};
