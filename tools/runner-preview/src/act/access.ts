/** Who may pass through the folders of previews. */
import { chmodSync, statSync } from 'node:fs';
import { isThere } from '@runner/common/files/read';
import type { Server } from '@runner/common/foundation/paths';
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
