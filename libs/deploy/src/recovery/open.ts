/** Opens an app for a command that needs no code host. */
import { openSecrets } from '@runner/common/app-secrets/open';
import { requireApp } from '@runner/common/apps/store';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { redactorForAny } from '@runner/common/redaction/redact';
import type { Operation } from '../record/operation.ts';
import { type Reporter, redacting } from '../report/reporter.ts';
import { recover } from './recover.ts';

/** The app as it is once a killed deploy or rollback is cleaned up. Under the app's lock. */
export async function openRecovered(request: {
  readonly io: Io;
  readonly paths: Paths;
  readonly app: string;
  readonly reporter: Reporter;
}): Promise<Operation> {
  const { io, paths } = request;
  const redact = await redactorForAny({ paths, env: io.env }, request.app);
  const reporter = redacting(request.reporter, redact);
  const secrets = openSecrets(paths, io.env, request.app);
  const known = { io, paths, reporter, redact, secrets, app: requireApp(paths, request.app) };
  return { ...known, app: await recover(known) };
}
