/** Reads the chats' credentials. A file of its own: it is bundled once, for commands that rarely need config.yml. */
import { chatSecretsOf } from '../config/chat-credentials.ts';
import { readConfig } from '../config/file.ts';
import type { Paths } from '../foundation/paths.ts';
import type { Secret } from '../secrets/secret.ts';

/** Throws `config_invalid`, `file_unreadable` or `guard_tripped`. */
export function readChatSecrets(paths: Paths): Secret[] {
  return chatSecretsOf(readConfig(paths));
}
