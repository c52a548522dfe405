/** Exporting a commit: `git archive | tar`, the cheapest way without a work tree. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { makeFolder, readTextIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { Failure, systemCode, systemWords } from '@runner/common/foundation/failure';
import { ended } from '../run/child.ts';
import { gitEnvironment } from '../run/environment.ts';
import { cutOff } from '../run/outside.ts';
import { onMirror } from './repository.ts';
import type { GitSource } from './source.ts';

/** Exports a commit into a folder. Throws `git_failed`, `disk_full`, `interrupted`. */
export async function exportCommit(source: GitSource, commit: string, into: string): Promise<void> {
  ignoreAttributes(source.mirror);
  const env = gitEnvironment(source.io.env);
  const { signal } = source;
  const tar = cutOff(() =>
    spawn('tar', ['-x', '--no-same-owner', '-f', '-', '-C', into], {
      env,
      signal,
      stdio: ['pipe', 'ignore', 'pipe'],
    }),
  );
  // git writes to tar directly: through this process every byte would be copied twice more.
  const archive = spawn('git', ['-c', 'tar.umask=0022', 'archive', '--format=tar', commit], {
    env: { ...env, ...onMirror(source.mirror) },
    signal,
    cwd: source.mirror,
    stdio: ['ignore', tar.stdin, 'pipe'],
  });
  tar.stdin?.on('error', () => {});
  tar.stdin?.destroy();
  let words = '';
  const listen = (chunk: Buffer) => {
    words = (words + chunk.toString('utf8')).slice(0, 4096);
  };
  archive.stderr?.on('data', listen);
  tar.stderr?.on('data', listen);
  for (const [name, child] of Object.entries({ tar, git: archive })) {
    child.once('error', (error) => {
      words ||= `${name} cannot be started: ${systemCode(error) === 'ENOENT' ? 'is it installed?' : systemWords(error)}`;
    });
  }
  const statuses = await Promise.all([ended(archive), ended(tar)]);
  if (signal.aborted) throw new Failure('interrupted', 'interrupted');
  if (statuses.every((status) => status === 0)) return;
  if (/No space left/.test(words)) throw new Failure('disk_full', 'no space left on the disk');
  throw new Failure(
    'git_failed',
    `the commit cannot be exported: ${words.trim().split('\n')[0] ?? ''}`,
  );
}

const EVERYTHING = '* -export-ignore -export-subst\n';

/**
 * Cancels attributes for release archives, which would leave files out or change them: the commit is
 * deployed as it is.
 */
function ignoreAttributes(mirror: string): void {
  const folder = join(mirror, 'info');
  const path = join(folder, 'attributes');
  if (readTextIfThere(path, 4096) === EVERYTHING) return;
  makeFolder(folder);
  writeWhole(path, EVERYTHING, 0o640);
}
