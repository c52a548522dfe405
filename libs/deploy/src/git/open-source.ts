/** Opening an app's source: its address and its token. */
import type { AppState } from '@runner/common/apps/state';
import { chatSecretsOf } from '@runner/common/config/chat-credentials';
import { readConfig } from '@runner/common/config/file';
import { codeHostOf } from '@runner/common/config/settings';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { redactorForAny } from '@runner/common/redaction/redact';
import { redactor } from '@runner/common/secrets/secret';
import { keyLines } from '@runner/common/tokens/key-file';
import { openToken } from '@runner/common/tokens/open';
import type { Source } from './source.ts';

/** What opening a source needs. */
export interface SourceRequest {
  readonly io: Io;
  readonly paths: Paths;
  readonly signal: AbortSignal;
}

/** Where the app comes from, and how its secrets are cleaned from text. */
export function sourceOf(
  { io, paths, signal }: SourceRequest,
  app: AppState,
): { source: Source; redact: (text: string) => string } {
  const config = readConfig(paths);
  const { gitUrl } = codeHostOf(config, io.env);
  const token = openToken(paths, io.env, app.app);
  const { repo, branch } = app;
  const source: Source = {
    io,
    app: app.app,
    repo,
    branch,
    gitUrl,
    token,
    mirror: paths.app(app.app).repo,
    signal,
  };
  // A step runs as the same user, who may read all of these.
  const known = [...keyLines(paths, io.env), ...chatSecretsOf(config)];
  return { source, redact: redactor(token ? [token, ...known] : known) };
}

/**
 * What cleans text of an app's token, the master keys and the chats' credentials for work that needs no
 * token, and is done also when the token cannot be opened: then it is told by its shape alone.
 */
export function redactorOf(
  { io, paths }: Pick<SourceRequest, 'io' | 'paths'>,
  app: string,
): Promise<(text: string) => string> {
  return redactorForAny({ paths, env: io.env }, app);
}
