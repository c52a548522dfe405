/** What an import makes of the entries: settings, commands and files, and the fate of each entry. */
import { VARIABLE } from '@runner/common/deploy-file/schema';
import type { ProposedSetting } from '@runner/common/deploy-file/write';
import { UNSAFE } from '@runner/common/text/harmless';
import { word } from '@runner/common/text/shell';
import { keyOf, type SourceEntry, type SourceValue } from './entry.ts';
import { hidesSecret, isSecret } from './secret.ts';

/** Where an entry went: a setting, a command or a file; or why it has no place. */
export type Fate = { readonly to: string } | { readonly reason: string };

/** A setting of `.deploy.yml`, and the entries that it comes from. */
export interface ImportedSetting {
  readonly path: readonly string[];
  readonly value: ProposedSetting['value'];
  readonly from: readonly SourceEntry[];
  /** Beside it in the file; without one, the place of its entry. */
  readonly reason?: string;
}

export const to = (place: string): Fate => ({ to: place });
export const left = (reason: string): Fate => ({ reason });

const COMPUTED = 'is computed when the file runs: write the value into .deploy.yml yourself';
const SECRET = 'holds what looks like a secret: take it out, and set it with runner env set';
/** The login in an address. */
const LOGIN = /^(https?:\/\/)[^/@\s]*@/;
/** Variables that are there without a file. */
export const OF_SYSTEM = /^(?:RUNNER_\w*|NODE_ENV|PORT|HOME|PATH|PWD|USER|HOSTNAME|TZ|LANG)$/;
const CONTROL = 'has characters that could control a terminal';

/** Why a value cannot be copied into another file; undefined if it can. */
export function refusalOf({
  value,
  computed,
}: Pick<SourceEntry, 'value' | 'computed'>): Fate | undefined {
  if (computed) return left(COMPUTED);
  if (typeof value !== 'string') return undefined;
  if (value.search(UNSAFE) !== -1) return left(CONTROL);
  return hidesSecret(value) ? left(SECRET) : undefined;
}

/** Grows while a format goes through its entries. */
export class Plan {
  readonly app: string;
  /** The app's folder on the server. */
  readonly home: string;
  /** The time zone of the server's cron. */
  readonly zone: string;
  readonly settings = new Map<string, ImportedSetting>();
  readonly commands = new Set<string>();
  readonly files = new Map<string, string>();
  readonly fates = new Map<SourceEntry, Fate>();
  /** Sentences about what the new files do not show. */
  readonly notes = new Set<string>();
  /** Secrets whose values are in a file that stays. */
  readonly #inFile = new Set<string>();

  constructor(app: string, root: string, zone: string) {
    this.app = app;
    this.zone = zone;
    this.home = `${root}/apps/${app}`;
  }

  /** Sets a setting to the entry's value, or to one made of it. */
  set(key: string | readonly string[], entry: SourceEntry, value: unknown = entry.value): Fate {
    const path = typeof key === 'string' ? key.split('.') : key;
    const made = value as ImportedSetting['value'] | null;
    const refusal = refusalOf(entry) ?? refusalOf({ value: made as SourceValue });
    if (refusal) return refusal;
    if (made === null || made === '') return left('has no value');
    this.settings.set(keyOf(path), { path, value: made, from: [entry] });
    return to(keyOf(path));
  }

  /** Adds a text to a list. */
  append(key: string, entry: SourceEntry, value: unknown = entry.value): Fate {
    const refusal = refusalOf(entry) ?? refusalOf({ value: value as SourceValue });
    if (refusal) return refusal;
    if (value === null || value === '') return left('has no value');
    const before = this.settings.get(key);
    const list = [before?.value ?? []].flat().map(String);
    const text = String(value);
    const all = list.includes(text) ? list : [...list, text];
    this.settings.set(key, {
      path: key.split('.'),
      value: all,
      from: [...(before?.from ?? []), entry],
    });
    return to(key);
  }

  /** A setting that follows from the whole file. */
  derive(key: string, value: ImportedSetting['value'], reason: string): void {
    if (!this.settings.has(key))
      this.settings.set(key, { path: key.split('.'), value, from: [], reason });
  }

  has(key: string): boolean {
    return this.settings.has(key);
  }

  /** A variable of an instance; a secret becomes the command that stores it. */
  env(
    entry: SourceEntry,
    name: string,
    value: SourceValue = entry.value,
    instance = 'default',
  ): Fate {
    const refusal = unnamed(name);
    if (refusal) return refusal;
    if (isSecret(name, String(value ?? ''))) return this.secret(name);
    if (entry.computed) return left(COMPUTED);
    const text = value === null ? '' : String(value);
    if (text.search(UNSAFE) !== -1) return left(CONTROL);
    const path = ['instances', instance, 'env', name];
    this.settings.set(keyOf(path), { path, value: text, from: [entry] });
    return to(keyOf(path));
  }

  /** The command that stores a secret; it asks for the value. */
  secret(name: string): Fate {
    return unnamed(name) ?? this.command(`runner env set ${this.app} ${name}`);
  }

  /** A secret of a file that its tool goes on reading. */
  secretInFile(name: string): Fate {
    const fate = this.secret(name);
    if ('to' in fate) this.#inFile.add(name);
    return fate;
  }

  /** Says that the values of these secrets must leave the file, and what the tool needs instead. */
  noteSecrets(file: string, instead: string): void {
    const names = [...this.#inFile];
    const values = names.length === 1 ? 'value' : 'values';
    if (names.length > 0)
      this.notes.add(`take the ${values} of ${names.join(', ')} out of ${file}: ${instead}`);
  }

  /** Variables that the tool takes from its environment, where a file outside the repository has set them. */
  takes(names: readonly string[], tool: string, file = '.env'): void {
    const own = [...new Set(names)].filter((name) => !OF_SYSTEM.test(name));
    if (own.length === 0) return;
    this.command(`runner env import ${this.app} --file ${word(file)}`);
    this.notes.add(
      `${tool} takes ${own.join(', ')} from its environment: import the ${file} that sets them, or use runner env set`,
    );
  }

  command(line: string): Fate {
    this.commands.add(line);
    return to(line);
  }

  /** The command that registers the app, with `URL` for an address that cannot be written there. */
  add(repo: SourceEntry | undefined, branch?: SourceEntry): void {
    const url = this.#address(repo);
    const named = branch && !refusalOf(branch) && typeof branch.value === 'string';
    const ref = named ? String(branch.value).replace(/^(?:refs\/heads|origin)\//, '') : '';
    const follows = /^[\w./-]{1,200}$/.test(ref) && !ref.startsWith('-') ? ` --branch ${ref}` : '';
    const how = `${follows} --name ${this.app} --token-file <FILE>`;
    this.commands.add(`runner add ${url ?? 'URL'}${how}`);
  }

  /** The address without a login; undefined leaves the entry. */
  #address(repo: SourceEntry | undefined): string | undefined {
    if (!repo) return undefined;
    const value = typeof repo.value === 'string' ? repo.value.replace(LOGIN, '$1') : '';
    const isAddress = /^[^\s-]\S*$/.test(value);
    const refusal =
      refusalOf({ ...repo, value }) ??
      (isAddress ? undefined : left('is not the address of a repository'));
    if (refusal) {
      const before = this.fates.get(repo);
      if (before && 'to' in before) this.fates.set(repo, refusal);
      return undefined;
    }
    if (value !== repo.value)
      this.notes.add(
        'the login in the address of the repository is left out: give it to runner add with --token-file',
      );
    return word(addressOf(value));
  }
}

function unnamed(name: string): Fate | undefined {
  if (!new RegExp(VARIABLE).test(name) || name.length > 200)
    return left('is not the name of a variable');
  return name.startsWith('RUNNER_') ? left('runner sets RUNNER_ variables itself') : undefined;
}

/** `git@host:owner/name` as https, which is how runner fetches; anything else as it is. */
function addressOf(repo: string): string {
  const [, host, path] =
    /^(?:ssh:\/\/)?(?:[\w.-]+@)?([\w.-]+\.[a-z]+)[:/]([\w./~-]+)$/.exec(repo) ?? [];
  const address = host === undefined ? repo : `https://${host}/${path}`;
  return address.replace(/^(https:\/\/(?:github|gitlab)\.com\/.+)\.git$/, '$1');
}
