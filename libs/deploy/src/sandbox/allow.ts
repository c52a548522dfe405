/** `sandbox.allow` of config.yml: paths that the commands of an app may also use. */
import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { isWithin, realFolder } from './hidden.ts';
import type { Confined } from './mounts.ts';

/**
 * The paths, links resolved: bound to another place, what they lead to could show the root. Throws
 * `config_invalid` for a path in the root, other than one in the app's HOME, for /dev and in /proc.
 */
export function allowedPaths(
  { paths, app }: Pick<Confined, 'paths' | 'app'>,
  allow: readonly string[],
): string[] {
  const root = realFolder(paths.root) ?? paths.root;
  const home = join(root, relative(paths.root, paths.app(app).home));
  return allow.map((path) => {
    const real = orElse(() => realpathSync(path), path);
    const isOfRunner = isWithin(root, real) && real !== root && !isWithin(home, real);
    const isOfSystem = real === '/dev' || isWithin('/proc', real);
    if (!isOfRunner && !isOfSystem) return real;
    const whose = isOfRunner ? 'belongs to runner' : 'shows the processes or devices of the server';
    const why = `sandbox.allow.${app}: ${path} ${whose}, and is never opened`;
    throw new Failure('config_invalid', `${paths.config}: ${why}`);
  });
}
