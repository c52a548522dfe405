/** Cleaning text of the secrets of this server that only its keys tell: an app's token, and these. */

import { appNames } from '../apps/store.ts';
import { Failure } from '../foundation/failure.ts';
import type { Env } from '../foundation/io.ts';
import type { Paths } from '../foundation/paths.ts';
import { redactor, type Secret } from '../secrets/secret.ts';
import { keyLines } from '../tokens/key-file.ts';
import { openToken } from '../tokens/open.ts';

/** Puts `[REDACTED]` in the place of each secret that it knows. */
export type Redact = (text: string) => string;

/** Where the keys are: the root and the environment. */
export interface Place {
  readonly paths: Paths;
  readonly env: Env;
}

/** Knows what can be read, and `others`: an app that is not registered, or a lost key, leaves the rest. */
export function knownRedactor(
  { paths, env }: Place,
  app: unknown,
  others: readonly Secret[],
): Redact {
  const apps = typeof app === 'string' ? [app] : [];
  return redactor([...others, ...keyLines(paths, env), ...tokensOf({ paths, env }, apps)]);
}

/** The same for the tokens of all apps, each once. */
export function allKnownRedactor({ paths, env }: Place, others: readonly Secret[]): Redact {
  const tokens = tokensOf({ paths, env }, appNames(paths));
  const distinct = new Map(tokens.map((token) => [token.reveal(), token]));
  return redactor([...others, ...keyLines(paths, env), ...distinct.values()]);
}

function tokensOf({ paths, env }: Place, apps: readonly string[]): Secret[] {
  return apps.flatMap((app) => {
    try {
      return openToken(paths, env, app) ?? [];
    } catch (error) {
      if (error instanceof Failure) return [];
      throw error;
    }
  });
}
