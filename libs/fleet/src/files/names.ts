/** Names of servers, groups and operators; used in file names, subjects and accounts. */
import { Failure } from '@runner/common/foundation/failure';

/** Names of servers and groups. */
export const SERVER_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
/** Names of operators in allowed_signers. */
export const OPERATOR_NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;

/** Whether a text can be the name of a server or group. */
export function isServerName(text: string): boolean {
  return SERVER_NAME.test(text);
}

/** Throws `name_invalid`. */
export function serverName(text: string): string {
  if (isServerName(text)) return text;
  throw new Failure(
    'name_invalid',
    `'${text.slice(0, 80)}' is not a server name: 1 to 32 lower-case letters, digits or dashes`,
  );
}

/** Whether a text can name an operator in allowed_signers. */
export function isOperatorName(text: string): boolean {
  return OPERATOR_NAME.test(text);
}
