/** Enforcing the limits of a build, with a scope of systemd and the sandbox. */
import { spawnSync } from 'node:child_process';
import type { BuildLimits } from '@runner/common/config/build-limits';
import { Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { findProgram, USUAL_PATH } from './probe.ts';
import type { Variables } from './settings.ts';

/** For the attempt, in milliseconds. */
const PATIENCE = 10_000;

/**
 * Prints the limits that a scope has, in both versions of cgroups: without the controller systemd-run
 * succeeds, and limits nothing. No limit is `max`, -1 or a number of 19 digits.
 */
const SHOW_LIMITS = `while IFS=: read -r _ names path; do
  case ",$names," in
    ,,) set -- "memory /sys/fs/cgroup$path/memory.max" "cpu /sys/fs/cgroup$path/cpu.max" ;;
    *,memory,*) set -- "memory /sys/fs/cgroup/memory$path/memory.limit_in_bytes" ;;
    *,cpu,*) set -- "cpu /sys/fs/cgroup/cpu$path/cpu.cfs_quota_us" ;;
    *) continue ;;
  esac
  for each; do echo "\${each%% *} $(cat "\${each#* }" 2>/dev/null)"; done
done < /proc/self/cgroup`;

/** What runs a program within memory and cpu; empty without these limits. */
function scopeFor({ memory, cpu }: Omit<BuildLimits, 'network'>, env: Variables) {
  const properties = [
    ...(memory === undefined ? [] : [`MemoryMax=${memory}`, 'MemorySwapMax=0']),
    ...(cpu === undefined ? [] : [`CPUQuota=${cpu}`]),
  ];
  if (properties.length === 0) return [];
  const manager = process.geteuid?.() === 0 ? [] : ['--user'];
  const options = properties.flatMap((each) => ['--property', each]);
  const scope = [...manager, '--scope', '--quiet', '--collect', ...options, '--'];
  const program = findProgram('systemd-run', env.PATH ?? USUAL_PATH);
  const tried = spawnSync(program ?? 'systemd-run', [...scope, 'sh', '-c', SHOW_LIMITS], {
    env,
    encoding: 'utf8',
    timeout: PATIENCE,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const isLimited = (name: string) =>
    new RegExp(`^${name} \\d{1,18}\\b`, 'm').test(tried.stdout ?? '');
  const missing = Object.entries({ memory, cpu })
    .filter(([name, limit]) => limit !== undefined && !(tried.status === 0 && isLimited(name)))
    .map(([name]) => `build.${name}`);
  if (missing.length === 0 && program !== undefined) return [program, ...scope];
  const said = (tried.stderr ?? '').trim().split('\n').at(-1);
  const silent = tried.error ? 'systemd-run is missing' : 'systemd has no such controller here';
  const why = harmlessLine(said || silent);
  throw new Failure(
    'sandbox_unavailable',
    `${missing.join(' and ')} cannot be limited here: ${why}`,
  );
}

/** What runs a build within its limits: a program with its arguments, and its environment. */
export type Prefix = ReturnType<typeof prefixFor>;

/**
 * What keeps a build within its limits. It runs outside of the sandbox, so its paths are absolute and its
 * environment is the server's: the commit sets those of the build. Throws `sandbox_unavailable`, naming
 * the limit that cannot be enforced.
 */
export function prefixFor(limits: Omit<BuildLimits, 'network'>, env: Variables) {
  // Builds give way to the apps.
  const nice = findProgram('nice', env.PATH ?? USUAL_PATH);
  const weight = nice === undefined ? [] : [nice, '-n', '10'];
  return { words: [...scopeFor(limits, env), ...weight], env };
}
