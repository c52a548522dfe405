/** Cleaning text of the secrets of this server: an app's token and the master keys. */
import { openToken } from './app-token.ts';
import { Failure } from './failure.ts';
import type { Env } from './io.ts';
import { keyLines } from './key-file.ts';
import type { Paths } from './paths.ts';
import { redactor, type Secret } from './secret.ts';

/** Puts `[REDACTED]` in the place of each secret that it knows. */
export type Redact = (text: string) => string;

/** Where the keys are: the root and the environment. */
export interface Place {
  readonly paths: Paths;
  readonly env: Env;
}

/** Knows what can be read: an app that is not registered, or a lost key, leaves the rest. */
export function knownRedactor({ paths, env }: Place, app: unknown): Redact {
  const keys = keyLines(paths, env);
  let token: Secret | undefined;
  try {
    token = typeof app === 'string' ? openToken(paths, env, app) : undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
  return redactor(token ? [token, ...keys] : keys);
}
