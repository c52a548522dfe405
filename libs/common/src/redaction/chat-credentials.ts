/**
 * The chats' credentials, for redaction. Parsing YAML costs as much as the rest of a start, so a text
 * is first compared with the words of the raw file.
 */
import { CHAT_SECRET_KEYS, chatSecretsOf } from '../config/chat-credentials.ts';
import { KEYS, NOTIFY_KEYS } from '../config/schema.ts';
import { readIfThere } from '../files/read.ts';
import { Failure } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';
import { SECRET_MIN } from '../secrets/plain-fields.ts';
import { Secret } from '../secrets/secret.ts';

/** Bytes; a larger file is refused by every reader of config.yml. */
const CONFIG_MAX = 65_536;

/** Words of config.yml that are common and not secret. */
const USUAL = new Set([
  ...Object.keys({ ...KEYS, ...NOTIFY_KEYS }),
  ...['notify', 'telegram', 'api.telegram.org', 'discord', 'discord.com', 'webhooks', 'https'],
  ...['hooks.slack.com', 'services', 'ntfy.sh', 'webhook', 'secret'],
]);

/** The credentials in config.yml; none if it cannot be read. */
export class ChatCredentials {
  readonly #paths: Paths;
  readonly #words: readonly string[];
  /** With escapes, words of the file and words of its values may differ. */
  readonly #isEscaped: boolean;
  #secrets: Promise<readonly Secret[]> | undefined;

  constructor(paths: Paths) {
    this.#paths = paths;
    const text = rawConfig(paths);
    this.#isEscaped = text.includes('\\');
    const isNeeded = this.#isEscaped || CHAT_SECRET_KEYS.some((key) => text.includes(key));
    this.#words = isNeeded ? wordsOf(text) : [];
  }

  /** Whether a text may hold a credential or its secret end. */
  mayBeIn(text: string): boolean {
    if (text.length < SECRET_MIN) return false;
    return this.#isEscaped || this.#words.some((word) => text.includes(word));
  }

  /** The credentials; all words of a file that cannot be parsed, since any of them may be one. */
  secrets(): Promise<readonly Secret[]> {
    this.#secrets ??= this.#words.length > 0 ? this.#read() : Promise.resolve([]);
    return this.#secrets;
  }

  async #read(): Promise<readonly Secret[]> {
    const { readConfig } = await import('../config/file.ts');
    try {
      return chatSecretsOf(readConfig(this.#paths));
    } catch (error) {
      if (error instanceof Failure) return this.#words.map((word) => new Secret(word));
      throw error;
    }
  }
}

function rawConfig(paths: Paths): string {
  try {
    return readIfThere(paths.config, CONFIG_MAX)?.toString('utf8') ?? '';
  } catch (error) {
    if (error instanceof Failure) return '';
    throw error;
  }
}

/** Comments left out; cut where a secret may begin or end, with and without cutting at colons. */
function wordsOf(text: string): string[] {
  const code = text.replace(/^\s*#.*$/gm, '');
  const words = (code.match(/[^\s"'{}[\],/?#]+/g) ?? []).flatMap((word) => [
    word.replace(/:$/, ''),
    ...word.split(':'),
  ]);
  return [...new Set(words)].filter((word) => word.length >= SECRET_MIN && !USUAL.has(word));
}
