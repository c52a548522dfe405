/**
 * The chats' credentials, for redaction. Parsing YAML costs as much as the rest of a start, so a text
 * is first compared with the words of the raw file.
 */
import { readTextIfThere } from '../files/read.ts';
import { unlessFailure } from '../foundation/attempt.ts';
import type { Paths } from '../foundation/paths.ts';
import { SECRET_MIN } from '../secrets/plain-fields.ts';
import { Secret } from '../secrets/secret.ts';

/** Bytes; a larger file is refused by every reader of config.yml. */
const CONFIG_MAX = 65_536;

/** Words of values in config.yml that are common and not secret. */
const USUAL = new Set([
  ...['api.telegram.org', 'discord.com', 'webhooks', 'https', 'hooks.slack.com', 'services'],
  ...['ntfy.sh', 'telegram', 'discord', 'webhook'],
]);
/** A key of the file; a word with capitals or digits may be a credential that someone misplaced. */
const KEY = /^\s*(?:- +)?[a-z_]+:(?=\s|$)/gm;

/** The credentials in config.yml; none if it cannot be read. */
export class ChatCredentials {
  readonly #paths: Paths;
  readonly #words: readonly string[];
  /** With escapes, words of the file and words of its values may differ. */
  readonly #isEscaped: boolean;
  #secrets: Promise<readonly Secret[]> | undefined;

  constructor(paths: Paths) {
    this.#paths = paths;
    const text = unlessFailure(() => readTextIfThere(paths.config, CONFIG_MAX), '') ?? '';
    this.#isEscaped = text.includes('\\');
    this.#words = wordsOf(text);
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
    const { readChatSecrets } = await import('./chat-secrets.ts');
    return unlessFailure(
      () => readChatSecrets(this.#paths),
      this.#words.map((word) => new Secret(word)),
    );
  }
}

/** Comments left out; cut where a secret may begin or end, with and without cutting at colons. */
function wordsOf(text: string): string[] {
  const code = text.replace(/^\s*#.*$/gm, '').replace(KEY, '');
  const words = (code.match(/[^\s"'{}[\],/?#]+/g) ?? []).flatMap((word) => [
    word.replace(/:$/, ''),
    ...word.split(':'),
  ]);
  return [...new Set(words)].filter((word) => word.length >= SECRET_MIN && !USUAL.has(word));
}
