/**
 * The gate between this server's secrets and everything outside. A text goes through it twice: once
 * when it is captured (a step's output, an answer, an event) and once at the border to the outside
 * (disk, spool, HTTP, terminal), since a captured text may have been cut, joined or come from a file
 * that another program wrote.
 *
 * What has the shape of a secret is always redacted. The secrets of this server are looked up only
 * for a text that may hold one: opening a token loads node:crypto, reading config.yml loads YAML.
 */
import { type LogRecord, projectOf } from '../audit/record.ts';
import { namesIn } from '../files/read.ts';
import { orElse } from '../foundation/attempt.ts';
import { type Redactor, redactor, seenText } from '../secrets/redactor.ts';
import { ChatCredentials } from './chat-credentials.ts';
import type { SecretSources } from './known-secrets.ts';
import { cleanRecord } from './record.ts';

/** Eight or more groups of hex, as of a dump, in a URL or in an escape. */
const HEX = /(?:[0-9a-f]{2,8}[^0-9a-z]{1,4}(?:0x|x|u00|u\{)?){8}/i;
/** Breaks that a tool may have put into a word. */
const BREAKS = /\\\r?\n|\r(?!\n)/g;

/**
 * Whether a word could be a token, or a text a token in hex: 12 or more characters with a letter and a digit, or 24 or more,
 * escapes and invisible characters left out. Neither a short commit nor a day of a timestamp counts.
 */
export function mayHoldToken(text: string): boolean {
  if (text.length < 12) return false;
  const seen = seenText(text).replace(BREAKS, '');
  return hasTokenLike(text) || HEX.test(text) || (seen !== text && hasTokenLike(seen));
}

function hasTokenLike(text: string): boolean {
  // Bounded: backtracking through a word of millions of characters exhausts the engine's stack.
  for (const [word] of text.matchAll(/[\w-]{12,24}/g)) {
    if (word.length < 24 && !(/\d/.test(word) && /[A-Za-z]/.test(word))) continue;
    if (!/^(?:[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d)$/.test(word)) return true;
  }
  return false;
}

/** The secrets of a server, looked up for the first text that may hold one. */
class ServerSecrets {
  readonly #place: SecretSources;
  readonly #chats: ChatCredentials;
  /** Values of apps may consist of any characters. */
  readonly #hasAppSecrets: boolean;

  constructor(place: SecretSources) {
    this.#place = place;
    this.#chats = new ChatCredentials(place.paths);
    // Those of another user cannot be looked up.
    this.#hasAppSecrets = orElse(() => namesIn(place.paths.secretsDir).length > 0, false);
  }

  /** Whether a text may hold a secret that its shape does not reveal. */
  mayBeIn(text: string): boolean {
    return (this.#hasAppSecrets && text.length >= 12) || this.mayBeShaped(text);
  }

  /** The same but for secrets of apps. */
  mayBeShaped(text: string): boolean {
    return mayHoldToken(text) || this.#chats.mayBeIn(text) || this.#chats.mayBeIn(seenText(text));
  }

  /** Knows the token of one app, or of all apps, and with `withChats` the chats' credentials. */
  async redactor(app?: string, withChats = true): Promise<Redactor> {
    const [{ knownRedactor }, chats] = await Promise.all([
      import('./known-secrets.ts'),
      withChats ? this.#chats.secrets() : [],
    ]);
    return knownRedactor(this.#place, app, chats);
  }
}

/** A redactor for these texts, which belong to an app. */
export async function redactorFor(
  texts: readonly string[],
  place: SecretSources,
  app: string,
): Promise<Redactor> {
  const secrets = new ServerSecrets(place);
  if (!texts.some((text) => secrets.mayBeIn(text))) return redactor();
  return secrets.redactor(
    app,
    texts.some((text) => secrets.mayBeShaped(text)),
  );
}

/** A redactor for any text of an app. */
export function redactorForAny(place: SecretSources, app: string): Promise<Redactor> {
  return new ServerSecrets(place).redactor(app);
}

/** A redactor for text that belongs to no app: it knows the tokens of all of them. */
export function redactorForAll(place: SecretSources): Promise<Redactor> {
  return new ServerSecrets(place).redactor();
}

/** Apps whose redactor is kept: a foreign log may name any number. */
const APPS_KEPT = 1_000;

export class RecordCleaner {
  readonly #secrets: ServerSecrets;
  readonly #byApp = new Map<string, Redactor>();
  readonly #byShape = redactor();

  constructor(place: SecretSources) {
    this.#secrets = new ServerSecrets(place);
  }

  /** A promise only where the secrets of the server must be looked up. */
  clean<T extends LogRecord>(record: T): T | Promise<T> {
    let may = false;
    const cleaned = cleanRecord(record, (text) => {
      may ||= this.#secrets.mayBeIn(text);
      return this.#byShape(text);
    });
    if (!may) return cleaned;
    return this.#redactorOf(projectOf(record)).then((redact) => cleanRecord(record, redact));
  }

  async #redactorOf(project: unknown): Promise<Redactor> {
    const app = typeof project === 'string' ? project : '';
    const kept = this.#byApp.get(app);
    if (kept) return kept;
    const redact = await this.#secrets.redactor(app);
    if (this.#byApp.size < APPS_KEPT) this.#byApp.set(app, redact);
    return redact;
  }
}
