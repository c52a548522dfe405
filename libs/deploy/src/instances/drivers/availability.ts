/** Whether the supervisor of an app is available, without starting anything. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { Env } from '@runner/common/foundation/io';
import { stepEnvironment } from '../../run/environment.ts';
import { ask } from './ask.ts';
import { unitOf } from './systemd.ts';

/** What is missing, in words; empty if the driver can work. */
export function missingProgram({ start, instances }: DeployFile, outer: Env): string[] {
  const env = stepEnvironment(outer);
  if (start.type === 'pm2') return onPath('pm2', env) ? [] : [notFound('pm2')];
  if (start.type === 'compose') {
    if (!onPath('docker', env)) return [notFound('docker')];
    const { status } = ask('docker', ['compose', 'version'], { env });
    return status === 0 ? [] : ['start: docker compose is missing: install the plugin'];
  }
  if (start.type !== 'systemd') return [];
  if (!onPath('systemctl', env)) return [notFound('systemctl')];
  const manager = start.user ? ['--user'] : [];
  const units = instances.map(({ name }) => unitOf(start.unit, name));
  return units.flatMap((unit) => {
    const args = [...manager, 'show', '--property=LoadState', '--value', '--', unit];
    const { status, stdout } = ask('systemctl', args, { env });
    if (status !== 0) return ['start: systemd does not answer'];
    return /^not-found\s*$/.test(stdout) ? [`start: systemd has no unit ${unit}`] : [];
  });
}

function notFound(program: string): string {
  return `start: ${program} is not on PATH`;
}

function onPath(program: string, { PATH = '' }: Record<string, string>): boolean {
  return PATH.split(delimiter)
    .filter(isAbsolute)
    .some((folder) => {
      try {
        const path = join(folder, program);
        accessSync(path, constants.X_OK);
        return statSync(path).isFile();
      } catch {
        return false;
      }
    });
}
