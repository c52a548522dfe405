/**
 * Cleaning records and texts of secrets. The token of an app and the master keys are looked up only
 * for text that may hold one: to open a token takes node:crypto, which an ordinary error does without.
 */
import { appNames } from '../apps/store.ts';
import { type LogRecord, projectOf } from '../audit/events.ts';
import { Failure } from '../foundation/failure.ts';
import { isOrdinary, ORDINARY } from '../secrets/plain-fields.ts';
import { redactor, type Secret, seenText } from '../secrets/secret.ts';
import {
  type ChatConfig,
  chatConfigOf,
  configSecrets,
  mayHoldCredential,
} from './config-secrets.ts';
import type { Place, Redact } from './known-secrets.ts';

/** The other fields that a record of ours has: their names are no secrets. */
const NAMES = new Set([
  ...['previous_version', 'from_version', 'duration_ms', 'domain', 'error', 'cause'],
  ...['truncated', 'stage', 'log', 'reason', 'late', 'rolled_back', 'guards', 'guard', 'path'],
  ...['command', 'user', 'uid', 'sudo_user'],
]);
/** Values further down are left as they are: a walk has to end. */
const DEPTH = 64;

/**
 * A copy of the record whose texts have gone through `redact`, names of unknown fields included; itself
 * when that changed none.
 */
export function cleanRecord<T extends Readonly<Record<string, unknown>>>(
  record: T,
  redact: Redact,
): T {
  return cleanFields(
    record,
    (field, value) => (isOrdinary(field, value) ? value : cleanValue(value, redact, DEPTH)),
    redact,
  ) as T;
}

function cleanFields(
  fields: object,
  clean: (field: string, value: unknown) => unknown,
  redact: Redact,
): object {
  const entries: [string, unknown][] = Object.entries(fields);
  let changed = false;
  let renamed = false;
  for (const entry of entries) {
    const [field, value] = entry;
    if (!NAMES.has(field) && !ORDINARY.has(field)) entry[0] = redact(field);
    entry[1] = clean(field, value);
    renamed ||= entry[0] !== field;
    changed ||= entry[1] !== value;
  }
  if (!changed && !renamed) return fields;
  return Object.fromEntries(renamed ? withOwnNames(entries) : entries);
}

/** Two names may have become one: then the later ones are numbered. */
function withOwnNames(entries: [string, unknown][]): [string, unknown][] {
  const taken = new Set<string>();
  return entries.map(([field, value]) => {
    let name = field;
    for (let number = 2; taken.has(name); number += 1) name = `${field} ${number}`;
    taken.add(name);
    return [name, value];
  });
}

function cleanValue(value: unknown, redact: Redact, depth: number): unknown {
  if (typeof value === 'string') return redact(value);
  if (value === null || typeof value !== 'object' || depth === 0) return value;
  if (!Array.isArray(value)) {
    return cleanFields(value, (_, each) => cleanValue(each, redact, depth - 1), redact);
  }
  const clean = value.map((each) => cleanValue(each, redact, depth - 1));
  return clean.some((each, index) => each !== value[index]) ? clean : value;
}

/**
 * Whether a word could be a token: 12 or more characters with a letter and a digit, or 24 or more; also
 * one that escapes divide. The short name of a commit and the day of a timestamp are none.
 */
export function mayHoldToken(text: string): boolean {
  if (text.length < 12) return false;
  const seen = seenText(text);
  return hasTokenLike(text) || (seen !== text && hasTokenLike(seen));
}

function hasTokenLike(text: string): boolean {
  // No more than needed: going back through a word of millions, the engine runs out of stack.
  for (const [word] of text.matchAll(/[\w-]{12,24}/g)) {
    if (word.length < 24 && !(/\d/.test(word) && /[A-Za-z]/.test(word))) continue;
    if (!/^(?:[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d)$/.test(word)) return true;
  }
  return false;
}

/** What is known of the server, looked up when a text may hold it, and once. */
class Known {
  readonly #place: Place;
  readonly #config: ChatConfig | undefined;
  #chats: readonly Secret[] | undefined;

  constructor(place: Place) {
    this.#place = place;
    this.#config = chatConfigOf(place.paths);
  }

  /** What a text may hold that no shape tells; '' for nothing. */
  mayHold(text: string): 'token' | 'credential' | '' {
    if (mayHoldToken(text)) return 'token';
    const config = this.#config;
    if (config === undefined) return '';
    const may = mayHoldCredential(config, text) || mayHoldCredential(config, seenText(text));
    return may ? 'credential' : '';
  }

  async redactor(may: 'token' | 'credential' | '', app: unknown): Promise<Redact> {
    if (may === '') return redactor();
    const chats = await this.chats();
    if (may === 'credential') return redactor(chats);
    const { knownRedactor } = await import('./known-secrets.ts');
    return knownRedactor(this.#place, app, chats);
  }

  async chats(): Promise<readonly Secret[]> {
    this.#chats ??= this.#config ? await configSecrets(this.#place.paths, this.#config) : [];
    return this.#chats;
  }
}

/**
 * Cleans these texts of what has the shape of a secret and, where one of them may hold some, of the
 * chats' credentials in config.yml, the app's token and the master keys, as far as they can be read.
 */
export function redactorFor(texts: readonly string[], place: Place, app: unknown): Promise<Redact> {
  const known = new Known(place);
  const may = texts.map((text) => known.mayHold(text));
  const most = may.includes('token') ? 'token' : may.includes('credential') ? 'credential' : '';
  return known.redactor(most, app);
}

/** The same for any text. */
export function redactorForAny(place: Place, app: unknown): Promise<Redact> {
  return new Known(place).redactor('token', app);
}

/**
 * Cleans text that belongs to no app: of the tokens of all of them. They are opened for the first text
 * that may hold one.
 */
export async function redactorForAll(place: Place): Promise<Redact> {
  const chats = await new Known(place).chats();
  const ofShape = redactor(chats);
  if (!hasApps(place)) return ofShape;
  const { allKnownRedactor } = await import('./known-secrets.ts');
  let known: Redact | undefined;
  return (text) => {
    if (mayHoldToken(text)) known ??= allKnownRedactor(place, chats);
    return (known ?? ofShape)(text);
  };
}

/** Whether apps are registered, as far as it can be seen: there may be no root at all. */
function hasApps({ paths }: Place): boolean {
  try {
    return appNames(paths).length > 0;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/** Apps of which a cleaner remembers what it knows: names in a foreign log may be any number. */
const APPS_KNOWN = 1_000;

/** Cleans record after record: what is known of the server and of an app is looked up once. */
export class RecordCleaner {
  readonly #known: Known;
  readonly #byApp = new Map<unknown, Redact>();
  readonly #ofShape = redactor();
  #ofChats: Redact | undefined;

  constructor(place: Place) {
    this.#known = new Known(place);
  }

  async clean<T extends LogRecord>(record: T): Promise<T> {
    let may: 'token' | 'credential' | '' = '';
    // In one walk: what no shape tells is seldom there.
    const cleaned = cleanRecord(record, (text) => {
      if (may !== 'token') may = this.#known.mayHold(text) || may;
      return this.#ofShape(text);
    });
    return may === '' ? cleaned : cleanRecord(record, await this.#redactor(may, projectOf(record)));
  }

  async #redactor(may: 'token' | 'credential', app: unknown): Promise<Redact> {
    if (may === 'credential') {
      this.#ofChats ??= await this.#known.redactor(may, app);
      return this.#ofChats;
    }
    const known = this.#byApp.get(app);
    const redact = known ?? (await this.#known.redactor(may, app));
    if (!known && this.#byApp.size < APPS_KNOWN) this.#byApp.set(app, redact);
    return redact;
  }
}
