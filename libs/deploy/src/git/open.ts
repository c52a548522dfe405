/** Opening the repository of an app: its address and its token. */
import { type AppSecrets, openSecrets, secretsToRedact } from '@runner/common/app-secrets/open';
import type { AppState } from '@runner/common/apps/state';
import { chatSecretsOf } from '@runner/common/config/chat-credentials';
import { readConfig } from '@runner/common/config/file';
import { codeHostOf } from '@runner/common/config/settings';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { type Redactor, redactor } from '@runner/common/secrets/secret';
import { keyLines } from '@runner/common/tokens/key-file';
import { openToken } from '@runner/common/tokens/open';
import type { GitSource } from './source.ts';

/** What opening a source needs. */
export interface SourceRequest {
  readonly io: Io;
  readonly paths: Paths;
  readonly signal: AbortSignal;
}

/** The repository of an app, its secrets, and a function that redacts them. */
export function sourceOf(
  { io, paths, signal }: SourceRequest,
  app: AppState,
): { source: GitSource; secrets: AppSecrets; redact: Redactor } {
  const config = readConfig(paths);
  const { gitUrl } = codeHostOf(config, io.env);
  const token = openToken(paths, io.env, app.app);
  const { repo, branch, tags } = app;
  const source: GitSource = {
    io,
    app: app.app,
    repo,
    branch,
    tags,
    gitUrl,
    token,
    mirror: paths.app(app.app).repo,
    signal,
  };
  // A step runs as the same user, who can read all of these.
  const secrets = openSecrets(paths, io.env, app.app);
  const known = [
    ...keyLines(paths, io.env),
    ...chatSecretsOf(config),
    ...secretsToRedact(secrets),
    ...(token ? [token] : []),
  ];
  return { source, secrets, redact: redactor(known) };
}
