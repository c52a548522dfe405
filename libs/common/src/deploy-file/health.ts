/** `health`: when an instance counts as healthy. */
import { harmlessLine } from '../text/harmless.ts';
import type { Instance } from './instance.ts';
import { HEALTH_KINDS } from './schema.ts';
import { type Fail, milliseconds } from './values.ts';
import { expand, unsetIn } from './variables.ts';

/** When an instance counts as healthy. All times in ms. */
export type Health = NonNullable<ReturnType<typeof healthOf>>;

export function healthOf(
  health: Map<string, unknown> | undefined,
  instances: readonly Instance[],
  fail: Fail,
) {
  if (!health) return undefined;
  const kinds = HEALTH_KINDS.filter((kind) => health.has(kind));
  const [kind] = kinds;
  if (kind === undefined) throw fail('health', 'needs one of url, cmd, tcp');
  if (kinds.length > 1)
    throw fail('health', `accepts only one of url, cmd, tcp, not ${kinds.join(' and ')}`);
  const target = health.get(kind) as string;
  if (kind !== 'cmd') checkAddress(kind, target, instances, fail);
  const [low = '200', high] = String(health.get('expect') ?? '200-299').split('-');
  if (high !== undefined && Number(high) < Number(low))
    throw fail('health.expect', 'ends before it begins');
  return {
    kind,
    /** Address, command or host:port; `${NAME}` is a variable of the instance. */
    target,
    /** Lowest and highest healthy HTTP status. */
    expect: [Number(low), Number(high ?? low)] as const,
    interval: milliseconds(health.get('interval'), 1_000),
    timeout: milliseconds(health.get('timeout'), 5_000),
    within: milliseconds(health.get('within'), 30_000),
  };
}

function checkAddress(
  kind: 'url' | 'tcp',
  target: string,
  instances: readonly Instance[],
  fail: Fail,
): void {
  for (const { name, env: own, traffic } of instances) {
    const env = traffic ? { ...own, PORT: String(traffic.ports?.[0] ?? 80) } : own;
    const unset = unsetIn(target, env);
    if (unset !== undefined)
      throw fail(`health.${kind}`, `uses ${unset}, which the env of ${name} does not set`);
    const address = expand(target, env);
    if (kind === 'tcp' && !hasPort(address))
      throw fail('health.tcp', 'must end with a port from 1 to 65535');
    if (kind === 'url' && !URL.canParse(address))
      throw fail('health.url', `${harmlessLine(address)} is not an address`);
  }
}

function hasPort(address: string): boolean {
  const port = address.slice(address.lastIndexOf(':') + 1);
  return /^[0-9]{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
}
