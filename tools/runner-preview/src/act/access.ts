/** How proxies reach previews: who may pass through their folders, and the link to what has the address. */
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hostOfUrl } from '@runner/common/apps/sleeping';
import { requireApp } from '@runner/common/apps/store';
import { isThere } from '@runner/common/files/read';
import type { Server } from '@runner/common/foundation/paths';
import { linkTo } from '@runner/deploy/instances/current-link';
import { ask } from '@runner/deploy/instances/drivers/ask';
import { stepEnvironment } from '@runner/deploy/run/environment';

/** Lets the users that may pass through the folder of the app, such as a proxy's, through those of its previews. */
export function passAs({ io, paths }: Server, of: string, names: readonly string[]): void {
  const env = stepEnvironment(io.env);
  const folder = (app: string) => paths.app(app).dir;
  const listOf = (path: string) => {
    const args = ['--access', '--omit-header', '--absolute-names', '--', path];
    const lines = ask('getfacl', args, { env })
      .stdout.replace(/\s*#.*/g, '')
      .trim();
    return lines.replaceAll('\n', ',');
  };
  const list = listOf(folder(of));
  for (const path of names.map(folder)) {
    if (![path, folder(of)].every(isThere) || (list !== '' && list === listOf(path))) continue;
    // Without access lists the mode says it all.
    if (list === '') chmodSync(path, statSync(folder(of)).mode & 0o777);
    else ask('setfacl', ['--set', list, '--', path], { env });
  }
}

/** `live` of a preview leads to that of the instance that has its address, whatever that is called. */
export function leadToServed({ paths }: Pick<Server, 'paths'>, app: string): void {
  const { preview, instances } = requireApp(paths, app);
  const [served] =
    Object.entries(instances).find(
      ([, { current }]) => hostOfUrl(current?.url) === preview?.domain,
    ) ?? [];
  if (served !== undefined)
    linkTo(join(paths.app(app).dir, 'live'), join('instances', served, 'live'));
}
