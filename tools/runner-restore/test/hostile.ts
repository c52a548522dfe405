/** What the short and the long tests of hostile share. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IDENTITY } from '@runner/testing/age-key';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { made, sealed } from './archive.ts';

export const SHARED = 'apps/shop/instances/default/shared';

export const top = temporaryFolder('hostile');

export const identity = join(top, 'key.txt');

export const file = join(top, 'backup.age');

export const root = join(top, 'root');

writeFileSync(identity, IDENTITY);

export async function restored(parts: Iterable<Uint8Array>, into = root) {
  writeFileSync(file, await sealed(parts));
  return run('runner-restore', [file, '--identity', identity], { root: into });
}

export const link = (path: string, target: string) => made(path, '', { type: 'link', target });

export const folder = (path: string, mode = 0o755) => made(path, '', { type: 'folder', mode });
