/** What the short and the long tests of states share. */
import { run } from '@runner/testing/run';
import type { World } from './world.ts';

export interface Said {
  readonly list: string;
  readonly status: string;
  /** Exit status of `status --check` without an app. */
  readonly check: number | null;
  /** Messages of the problems of doctor's check `deploys`. */
  readonly doctor: string[];
}

/** What each of them says of the app `shop`. */
export async function said({ root }: World, env: Record<string, string> = {}): Promise<Said> {
  const ask = (tool: string, ...args: string[]) => run(tool, args, { root, env });
  const [list, status, check, doctor] = await Promise.all([
    ask('runner-list', '--json'),
    ask('runner-status', 'shop', '--json'),
    ask('runner-status', '--check'),
    ask('runner-doctor', '--offline', '--json'),
  ]);
  const { findings } = JSON.parse(doctor.stdout) as {
    findings: { check: string; level: string; message: string }[];
  };
  return {
    list: JSON.parse(list.stdout).apps[0].state,
    status: JSON.parse(status.stdout).state,
    check: check.status,
    doctor: findings
      .filter((each) => each.check === 'deploys' && each.level === 'problem')
      .map(({ message }) => message),
  };
}

export const OK: Said = { list: 'ok', status: 'ok', check: 0, doctor: [] };
