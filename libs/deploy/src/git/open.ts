/** Opening the repository of an app: its address and its token. */
import { type AppSecrets, openSecrets, secretsToRedact } from '@runner/common/app-secrets/open';
import type { AppState } from '@runner/common/apps/state';
import { chatSecretsOf } from '@runner/common/config/chat-credentials';
import { codeHostOf } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import type { Server } from '@runner/common/foundation/paths';
import { formsOf } from '@runner/common/hosts/login';
import { type Redactor, redactor } from '@runner/common/secrets/redactor';
import { keyLines } from '@runner/common/tokens/key-file';
import { openToken } from '@runner/common/tokens/open';
import { compareLink } from './compare-link.ts';
import { elsewhereFrom } from './elsewhere.ts';
import { sourceLogin } from './login.ts';
import type { GitSource } from './source.ts';

/** What opening a source needs. */
export interface SourceRequest extends Server {
  readonly signal: AbortSignal;
}

/** The repository of an app, its secrets, and a function that redacts them. */
export function sourceOf(
  { io, paths, signal }: SourceRequest,
  app: AppState,
): { source: GitSource; secrets: AppSecrets; redact: Redactor } {
  const config = readConfig(paths);
  const { env } = io;
  const host = codeHostOf(config, env, app.host);
  const token = openToken(paths, env, app.app);
  const source: GitSource = {
    ...sourceLogin(io, host, token, app.repo),
    io,
    app: app.app,
    repo: app.repo,
    branch: app.branch,
    tags: app.tags,
    mirror: paths.app(app.app).repo,
    signal,
    compare: (from, to) => compareLink(host, app.repo, from, to),
    elsewhere: elsewhereFrom({ io, paths, config, app: app.app, host, token }),
  };
  // A step runs as the same user, who can read all of these.
  const secrets = openSecrets(paths, io.env, app.app);
  const toHide = [
    ...keyLines(paths, io.env),
    ...chatSecretsOf(config),
    ...secretsToRedact(secrets, paths.root),
    ...formsOf(token),
  ];
  return { source, secrets, redact: redactor(toHide) };
}
