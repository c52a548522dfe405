/** The files of systemd from which the units of an app were made. */
import { realpathSync } from 'node:fs';
import { hashOf } from '@runner/common/audit/chain';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { readIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { askUnit, shownOf, unitsOf } from '../instances/drivers/unit-state.ts';
import { stepEnvironment } from '../run/environment.ts';

/** Bytes of a unit. */
const UNIT_MAX = 1_048_576;

/** SHA-256 of each unit file and drop-in of the units, by path; `?` for one that cannot be read. */
export function unitDigests(
  { io }: Pick<Server, 'io'>,
  { start, instances }: DeployFile,
): Record<string, string> {
  if (start.type !== 'systemd') return {};
  const env = stepEnvironment(io.env);
  const paths = instances.flatMap((instance) =>
    unitsOf(start.unit, instance).flatMap((unit) => {
      const asked = askUnit(start, unit, env, 'show', '--property', 'FragmentPath,DropInPaths');
      const value = shownOf(asked.stdout);
      return [value('FragmentPath'), ...value('DropInPaths').split(' ')].filter(Boolean);
    }),
  );
  return Object.fromEntries([...new Set(paths)].sort().map((path) => [path, digestOf(path)]));
}

/** SHA-256 of a file; `?` if it cannot be read. */
export function digestOf(path: string): string {
  const bytes = orElse(() => readIfThere(realpathSync(path), UNIT_MAX), undefined);
  return bytes ? hashOf(bytes) : '?';
}
