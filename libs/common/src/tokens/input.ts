/** Reads a token from a flag, a file, stdin, the environment or a prompt. */
import { readGiven } from '../files/read.ts';
import type { Io } from '../foundation/io.ts';
import { type Secret, tokenSecret } from '../secrets/secret.ts';
import { askSecret, canAsk } from './prompt.ts';

/** Bytes; a larger file is the wrong one. */
const FILE_MAX = 65_536;

/** The options of a command that concern its token. */
export interface TokenChoice {
  readonly token: string | undefined;
  readonly 'token-file': string | undefined;
  readonly note: (text: string) => void;
}

/**
 * Reads the token from `--token`, `--token-file`, RUNNER_TOKEN, else from a hidden prompt. Undefined
 * without any of them and without a terminal. Throws `token_invalid`.
 */
export function readToken(io: Io, choice: TokenChoice, question: string): Secret | undefined {
  const file = choice.token === '-' ? '-' : choice['token-file'];
  if (file !== undefined) {
    const isAsked = file === '-' && canAsk(io);
    return tokenSecret(
      isAsked ? askSecret(io, question) : readGiven(io, file, FILE_MAX, 'the token'),
    );
  }
  if (choice.token !== undefined) {
    choice.note(
      'warning: --token shows the token in the process list, use --token - or --token-file',
    );
    return tokenSecret(choice.token);
  }
  if (io.env.RUNNER_TOKEN) return tokenSecret(io.env.RUNNER_TOKEN);
  return canAsk(io) ? tokenSecret(askSecret(io, question)) : undefined;
}
