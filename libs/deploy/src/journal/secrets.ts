/** The secrets of an app, opened for what it does now. */
import { NO_SECRETS, openSecrets } from '@runner/common/app-secrets/open';
import type { AppState } from '@runner/common/apps/state';
import { onFailure, unlessFailure } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { redactorForAny } from '@runner/common/redaction/redact';
import type { Operation } from './operation.ts';

/** The secrets of an app, and what redacts them. */
export type OpenedSecrets = Pick<Operation, 'secrets' | 'redact'>;

/** The secrets of an app, and what redacts them. Throws `key_missing` and the like. */
export async function secretsOf({ io, paths }: Server, { app }: AppState): Promise<OpenedSecrets> {
  const redact = await redactorForAny({ paths, env: io.env }, app);
  return { redact, secrets: openSecrets(paths, io.env, app) };
}

/** The same without a key too: a lost one must not keep an app running. */
export async function secretsAnyway(
  { io, paths }: Server,
  { app }: AppState,
): Promise<OpenedSecrets> {
  const redact = await redactorForAny({ paths, env: io.env }, app);
  return { redact, secrets: unlessFailure(() => openSecrets(paths, io.env, app), NO_SECRETS) };
}

/** Those of now or, if the key is gone with the systemd service that had it, as they were. */
export async function secretsOr(
  server: Server,
  app: AppState,
  known: OpenedSecrets | undefined,
): Promise<OpenedSecrets> {
  const asKnown = onFailure((failure) => {
    if (known) return known;
    throw failure;
  });
  return secretsOf(server, app).catch(asKnown);
}
