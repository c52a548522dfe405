/** Enforcing the limits of a build, with a scope of systemd and the sandbox. */
import { spawnSync } from 'node:child_process';
import type { BuildLimits } from '@runner/common/config/build-limits';
import { Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Confinement } from './sandbox.ts';

/** For the attempt, in milliseconds. */
const PATIENCE = 10_000;

/** What runs a program within memory and cpu; empty without these limits. */
function scopeFor(
  { memory, cpu }: BuildLimits,
  env: Readonly<Record<string, string>>,
): readonly string[] {
  const properties = [
    ...(memory === undefined ? [] : [`MemoryMax=${memory}`, 'MemorySwapMax=0']),
    ...(cpu === undefined ? [] : [`CPUQuota=${cpu}`]),
  ];
  if (properties.length === 0) return [];
  const manager = process.geteuid?.() === 0 ? [] : ['--user'];
  const options = properties.flatMap((each) => ['--property', each]);
  const scope = [...manager, '--scope', '--quiet', '--collect', ...options, '--'];
  const tried = spawnSync('systemd-run', [...scope, 'true'], {
    ...{ env, encoding: 'utf8', timeout: PATIENCE },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (tried.status === 0) return ['systemd-run', ...scope];
  const names = [memory && 'build.memory', cpu && 'build.cpu'].filter(Boolean).join(' and ');
  const why = harmlessLine(
    (tried.stderr ?? '').trim().split('\n').at(-1) || 'systemd-run is missing',
  );
  throw new Failure('sandbox_unavailable', `${names} cannot be limited here: ${why}`);
}

/** Builds give way to the apps. */
const LOW_WEIGHT = ['nice', '-n', '10'];

/**
 * The program and arguments before those of a build, which keep it within its limits. Throws
 * `sandbox_unavailable`, naming the limit that cannot be enforced.
 */
export function prefixFor(
  limits: BuildLimits,
  env: Readonly<Record<string, string>>,
  confinement: Confinement | undefined,
): readonly string[] {
  if (limits.network || confinement !== undefined) return [...scopeFor(limits, env), ...LOW_WEIGHT];
  const why = 'build.network cannot be switched off here: the sandbox does not run';
  throw new Failure('sandbox_unavailable', why);
}
