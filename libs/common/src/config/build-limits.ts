/** Limits of a build: `build` in config.yml, and of `.deploy.yml`. The stricter one counts. */
import { matching } from '../yaml/keys.ts';
import { networkIn, networkSchema } from './network.ts';

export const LIMIT_KEYS = {
  memory: matching(
    '^[1-9][0-9]{0,5}[KMGT]$',
    'a size like 512M or 1G',
    'Memory limit of a build, e.g. 1G [default: no limit]',
  ),
  cpu: matching(
    '^[1-9][0-9]{0,4}%$',
    'a share of one processor like 50% or 200%',
    'CPU limit of a build, of one processor, e.g. 50% [default: no limit]',
  ),
  network: networkSchema(
    'Hosts that a build may reach, false: none, learn: all, which are then listed [default: true]',
  ),
} as const;

/** undefined: no limit. */
export type BuildLimits = ReturnType<typeof limitsIn>;

export function limitsIn(section: ReadonlyMap<string, unknown>) {
  return {
    /** As systemd writes it: `512M`. */
    memory: section.get('memory') as string | undefined,
    /** `50%` of one processor. */
    cpu: section.get('cpu') as string | undefined,
    network: networkIn(section.get('network')),
  };
}

/** The stricter of memory and cpu. */
export function stricter(
  one: BuildLimits,
  other: BuildLimits,
): Pick<BuildLimits, 'memory' | 'cpu'> {
  const least = (a: string | undefined, b: string | undefined) =>
    a === undefined || (b !== undefined && amountOf(b) < amountOf(a)) ? b : a;
  return {
    memory: least(one.memory, other.memory),
    cpu: least(one.cpu, other.cpu),
  };
}

function amountOf(text: string): number {
  return Number.parseInt(text, 10) * 1024 ** Math.max(0, ' KMGT'.indexOf(text.slice(-1)));
}
