/** What would keep a deploy with `traffic` from working, for `runner deploy --check`. */
import { liveSlot, otherSlot } from '@runner/common/apps/slots';
import { findApp } from '@runner/common/apps/store';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { Env } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { stepEnvironment } from '../run/environment.ts';
import { askUnit, unitsOf } from './drivers/unit-state.ts';
import { portOf } from './place.ts';
import { obstructions } from './proxies.ts';
import { portHolder, socketProblem } from './reach.ts';

/** A sentence for each problem, with the command that changes it if there is one. */
export function trafficProblems(paths: Paths, app: string, file: DeployFile, env: Env): string[] {
  const found = file.instances.flatMap((instance) => {
    const { name, traffic } = instance;
    if (!traffic) return [];
    const own = paths.app(app).instance(name);
    const tooLong = traffic.type === 'socket' ? socketProblem(own, file) : undefined;
    return [
      ...(tooLong === undefined ? [] : [`traffic: ${tooLong}`]),
      ...healthProblem(file, instance),
      ...unitProblems(file, instance, env),
      ...busyPort(paths, app, instance),
      ...obstructions(own, traffic).map(({ words, fix }) => `traffic: ${words}: ${fix}`),
    ];
  });
  return [...new Set(found)];
}

/** Health has to ask the slot that is being started. */
function healthProblem({ health }: DeployFile, { name, traffic }: Instance): string[] {
  if (!health || !traffic) return [];
  const usesPort = /\$(?:\{PORT\}|PORT\b)/.test(health.target);
  const usesSocket = health.kind === 'url' && /^http:\/\/unix(?:[/?]|$)/.test(health.target);
  if (usesPort || (traffic.type === 'socket' && usesSocket) || health.kind === 'cmd') return [];
  const use = traffic.type === 'socket' ? 'http://unix/…' : '${PORT}';
  return [
    `health.${health.kind} asks another version of ${name} than the one that starts: use ${use}`,
  ];
}

/** The slot that the next version gets is empty: what listens on its port belongs to someone else. */
export function busyPort(paths: Paths, app: string, { name, traffic }: Instance): string[] {
  const live = liveSlot(paths.app(app).instance(name));
  if (!traffic?.overlap || live === undefined) return [];
  const next = otherSlot(live);
  const port = portOf(traffic, next);
  const isEmpty = !findApp(paths, app)?.instances[name]?.slots?.[next];
  const holder = port !== undefined && isEmpty ? portHolder(port) : undefined;
  if (holder === undefined) return [];
  return [`traffic: port ${port} of ${name} is taken by ${holder}: ss -ltnp 'sport = :${port}'`];
}

/** A template has to find the release and PORT of the slot that it is started for. */
function unitProblems({ start }: DeployFile, instance: Instance, env: Env): string[] {
  const [unit] = start.type === 'systemd' ? unitsOf(start.unit, instance) : [];
  if (start.type !== 'systemd' || unit === undefined) return [];
  const { status, stdout } = askUnit(start, unit, stepEnvironment(env), 'cat');
  if (status !== 0) return [];
  const missing = ['WorkingDirectory', 'EnvironmentFile']
    .filter((key) => !new RegExp(`^${key}=.*%[iI]`, 'm').test(stdout))
    .map((key) => `${key} with %I`);
  // With a stricter one the proxy may not write to the socket of another user.
  const umask = /^UMask=0*([0-7]*)$/m.exec(stdout)?.[1] ?? '22';
  const hasUser = /^User=./m.test(stdout) && instance.traffic?.type === 'socket';
  if (hasUser && (Number.parseInt(umask || '0', 8) & 0o022) === 0o022) missing.push('UMask=0007');
  return missing.map(
    (what) => `start: ${start.unit} has no ${what}: systemctl edit --full ${start.unit}`,
  );
}
