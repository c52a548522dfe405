/** Where an app prints to: files, or a program that shows it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SLOTS, slotPaths } from '@runner/common/apps/slots';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { composeLogs } from '../instances/drivers/compose.ts';
import { pm2Logs } from '../instances/drivers/pm2.ts';
import { unitOf } from '../instances/drivers/systemd.ts';
import type { ReleaseTarget } from '../instances/target.ts';

/** How much to show. */
export interface Wanted {
  readonly lines: number;
  readonly follow: boolean;
  /** ISO 8601 UTC. */
  readonly since: string | undefined;
}

/** Files that grow, or a program whose output it is. */
export type Output =
  | { readonly files: readonly string[] }
  | { readonly file: string; readonly args: readonly string[] };

/** Where an instance prints to. Throws `usage` if that cannot show what is wanted, `log_not_found`. */
export function outputOf(paths: Paths, target: ReleaseTarget, wanted: Wanted): Output {
  const { start, app, instance } = target;
  const { lines, follow, since } = wanted;
  if (start.type === 'systemd') {
    const scope = start.user ? ['--user-unit'] : ['--unit'];
    const unit = unitOf(start.unit, instance.name, target.slot);
    const some = [
      '--lines',
      String(lines),
      ...(since ? ['--since', `@${Date.parse(since) / 1000}`] : []),
    ];
    const how = ['--no-pager', '--quiet', '--output', 'cat', ...(follow ? ['--follow'] : [])];
    return { file: 'journalctl', args: [...how, ...some, ...scope, unit] };
  }
  if (start.type === 'compose') {
    const some = ['--tail', String(lines), ...(since ? ['--since', since] : [])];
    const how = ['--no-color', '--no-log-prefix', ...(follow ? ['--follow'] : [])];
    return { file: 'docker', args: [...composeLogs(target, start), 'logs', ...how, ...some] };
  }
  if (since !== undefined)
    throw new Failure(
      'usage',
      `the output of '${app}' (start.type ${start.type}) has no times: use --lines`,
    );
  if (start.type === 'pm2') return { files: pm2Logs(target) };
  if (start.type === 'process') {
    const own = paths.app(app).instance(instance.name);
    const places = [undefined, ...SLOTS].map((slot) => slotPaths(own, slot).run);
    return {
      files: places
        .map((run) => join(run, 'output.log'))
        .filter((path, at) => at === 0 || existsSync(path)),
    };
  }
  throw new Failure(
    'log_not_found',
    `runner does not know where '${app}' (start.type ${start.type}) prints to: look in its supervisor`,
  );
}
