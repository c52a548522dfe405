/** Names of servers, groups and operators; used in file names, subjects and accounts. */
import { Failure } from '@runner/common/foundation/failure';

/** Names of servers and groups. */
export const SERVER_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
/** Names of operators in allowed_signers. */
export const OPERATOR_NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;

/** Throws `name_invalid`. */
export function serverName(text: string): string {
  if (SERVER_NAME.test(text)) return text;
  throw new Failure(
    'name_invalid',
    `'${text.slice(0, 80)}' is not a server name: 1 to 32 lower-case letters, digits or dashes`,
  );
}
