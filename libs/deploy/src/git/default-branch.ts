/** Which branch of a repository is the default one, asked before an app is registered. */
import { codeHostOf } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import type { RecordedPlace } from '@runner/common/config/repo-place';
import { makeFolder } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import type { Secret } from '@runner/common/secrets/secret';
import { gitFailure } from './failure.ts';
import { gitIn } from './git.ts';
import { sourceLogin } from './open.ts';
import { atAddress } from './remote.ts';
import type { GitSource } from './source.ts';

/** In milliseconds. */
const TIMEOUT = 30_000;

/** What asking needs: an app that is about to be registered. */
export interface BranchQuestion extends Server {
  readonly app: string;
  readonly place: RecordedPlace;
  readonly token: Secret | undefined;
  readonly signal: AbortSignal;
}

/** Asks the code host. Throws `token_invalid`, `repo_not_found`, `branch_not_found`, `network_error`, … */
export async function defaultBranch(question: BranchQuestion): Promise<string> {
  const { io, paths, app, place, token, signal } = question;
  const host = codeHostOf(readConfig(paths), io.env, place.host);
  const source: GitSource = {
    ...sourceLogin(io, host, token, place.repo),
    io,
    app,
    repo: place.repo,
    branch: '',
    // There is none yet; git runs in the folder above it.
    mirror: `${paths.root}/none`,
    signal,
    compare: () => undefined,
    elsewhere: () => undefined,
  };
  makeFolder(paths.root);
  const options = { source, cwd: paths.root, outside: true, timeout: TIMEOUT };
  const { answer } = await atAddress(source, (at) =>
    gitIn(source, ['ls-remote', '--quiet', '--symref', '--end-of-options', at, 'HEAD'], options),
  );
  if (answer.status !== 0) throw gitFailure(source, answer);
  const [, branch] = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(answer.stdout.toString('utf8')) ?? [];
  if (branch !== undefined) return branch;
  throw new Failure(
    'branch_not_found',
    `the repository ${place.repo} names no default branch; is it empty? Give one with --branch <BRANCH>`,
  );
}
