/** The secrets of this server that no shape reveals: tokens and secrets of apps, and the master keys. */
import { openableSecrets, secretsToRedact } from '../app-secrets/open.ts';
import { allNames } from '../apps/store.ts';
import { unlessFailure } from '../foundation/attempt.ts';
import type { Env } from '../foundation/io.ts';
import type { Paths } from '../foundation/paths.ts';
import { formsOf } from '../hosts/login.ts';
import { type Redactor, redactor } from '../secrets/redactor.ts';
import type { Secret } from '../secrets/secret.ts';
import { keyLines } from '../tokens/key-file.ts';
import { openToken } from '../tokens/open.ts';

/** Replaces each secret that it knows by `[REDACTED]`. */
export type Redact = (text: string) => string;

/** Where the keys are: the root and the environment. */
export interface SecretSources {
  readonly paths: Paths;
  readonly env: Env;
}

/**
 * Knows the master keys, the token and secrets of `app` (of all apps without one) and `others`. What cannot be
 * read is left out: an app that is not registered or a lost key must not hide the rest.
 */
export function knownRedactor(
  { paths, env }: SecretSources,
  app: string | undefined,
  others: readonly Secret[],
): Redactor {
  const apps = app === undefined ? unlessFailure(() => allNames(paths), []) : [app];
  const tokens = apps.flatMap((name) =>
    unlessFailure(() => formsOf(openToken(paths, env, name)), []),
  );
  const secrets = apps.flatMap((name) =>
    unlessFailure(() => secretsToRedact(openableSecrets(paths, env, name), paths.root), []),
  );
  return redactor([...others, ...keyLines(paths, env), ...tokens, ...secrets]);
}
