/** Opens the secrets of an app. */
import { unlessFailure } from '../foundation/attempt.ts';
import { Failure } from '../foundation/failure.ts';
import type { Env } from '../foundation/io.ts';
import type { Paths } from '../foundation/paths.ts';
import { isAddress, isPath } from '../secrets/places.ts';
import { Secret } from '../secrets/secret.ts';
import { requireKeyring } from '../tokens/keyring.ts';
import { open } from '../tokens/vault.ts';
import {
  ALL,
  fieldOf,
  readSecrets,
  type SealedSecret,
  type SecretsFile,
  secretsFor,
} from './file.ts';

export interface AppSecret extends Omit<SealedSecret, 'sealed'> {
  readonly value: Secret;
}

/** The secrets of an app as they were at one moment. */
export interface AppSecrets {
  /** The file they come from; undefined if the app has none. */
  readonly file: SecretsFile | undefined;
  /** All that are set now. */
  readonly all: readonly AppSecret[];
  /** Values from before, as far as they can be opened. */
  readonly former: readonly AppSecret[];
  /** What an instance gets when it is started now. */
  today(instance: string): readonly AppSecret[];
  /** What an instance was last started with. */
  started(instance: string): readonly AppSecret[];
}

export const NO_SECRETS: AppSecrets = {
  file: undefined,
  all: [],
  former: [],
  today: () => [],
  started: () => [],
};

/**
 * Opens all secrets of an app. If `tokens rekey` replaced file and keys between the two reads, both are
 * read again. Throws `secret_corrupt`, `secret_wrong_app`, `mkey_missing`, `mkey_unknown`.
 */
export function openSecrets(paths: Paths, env: Env, app: string): AppSecrets {
  for (let before = ''; ; ) {
    const file = readSecrets(paths, app);
    if (!file) return NO_SECRETS;
    try {
      return opened(file, paths, env);
    } catch (error) {
      const text = JSON.stringify(file);
      const isReplaced = error instanceof Failure && error.code === 'mkey_unknown';
      if (!isReplaced || text === before) throw error;
      before = text;
    }
  }
}

/** As far as they can be opened: for redaction, since one that is damaged must not reveal the others. */
export function openableSecrets(paths: Paths, env: Env, app: string): AppSecrets {
  const all = unlessFailure(() => openSecrets(paths, env, app), undefined);
  if (all) return all;
  const file = readSecrets(paths, app);
  return file ? opened(file, paths, env, true) : NO_SECRETS;
}

function opened(file: SecretsFile, paths: Paths, env: Env, isLenient = false): AppSecrets {
  const keyring = requireKeyring(paths, env);
  const values = new Map<string, Secret>();
  const openOne = ({ sealed, ...rest }: SealedSecret): AppSecret => {
    const field = fieldOf(rest);
    // With the field: a value that opens under one name must not open under another.
    const key = `${field.name} ${sealed}`;
    const value = values.get(key) ?? open(sealed, file.app, keyring, field);
    values.set(key, value);
    return { ...rest, value };
  };
  const openable = (secrets: readonly SealedSecret[]) =>
    secrets.flatMap((each) => unlessFailure(() => [openOne(each)], []));
  const openAll = isLenient ? openable : (secrets: SealedSecret[]) => secrets.map(openOne);
  const all = openAll(file.secrets);
  const started = file.started.map(({ instance, secrets }) => ({
    instance,
    secrets: openAll(secrets),
  }));
  return {
    file,
    all,
    former: openable(file.former ?? []),
    today: (instance) => openAll(secretsFor(file.secrets, instance)),
    started: (instance) => started.find((each) => each.instance === instance)?.secrets ?? [],
  };
}

export function variablesOf(secrets: readonly AppSecret[]): Record<string, string> {
  return Object.fromEntries(secrets.map(({ name, value }) => [name, value.reveal()]));
}

/** `ev_1234…9abc`: equal for equal values of one app. */
export function secretFingerprint({ salt }: SecretsFile, { value }: AppSecret): string {
  const { createHmac } = process.getBuiltinModule('node:crypto');
  const digest = createHmac('sha256', salt).update(value.reveal()).digest('hex');
  return `ev_${digest.slice(0, 4)}…${digest.slice(8, 12)}`;
}

/** Fingerprints of what instances get when they are started now, by `NAME`, or `instance/NAME` if only one gets it. */
export function fingerprintsOf(
  { file, today }: AppSecrets,
  instances: readonly string[],
): Record<string, string> {
  if (!file) return {};
  const all = instances.flatMap((instance) =>
    today(instance).map((secret) => {
      const name = secret.instance === ALL ? secret.name : `${instance}/${secret.name}`;
      return [name, secretFingerprint(file, secret)];
    }),
  );
  return Object.fromEntries(all);
}

/** Shortest value that is redacted if it has a letter and a digit, and shortest of any other. */
const [MIXED_MIN, ANY_MIN] = [12, 24];

/** Whether a value is redacted: a shorter one, or a path, would occur in ordinary text. */
export function isRedactable(value: string): boolean {
  if (isPath(value)) return false;
  if (value.length >= ANY_MIN) return true;
  return value.length >= MIXED_MIN && /\d/.test(value) && /[A-Za-z]/.test(value);
}

/** The first and last line of a key or certificate, which say nothing. */
const FRAME = /^-----(?:BEGIN|END) [A-Z0-9 ]+-----$/;

/** The password in an address. */
const PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@:]*:([^\s/?#@]+)@/i;
/** Credentials in the query of an address. */
const IN_QUERY = /[?&;][^=&;#]*(?:pass|pwd|secret|token|key|sig|auth)[^=&;#]*=([^&;#\s]+)/gi;
/** The base64 of private keys, in JSON too. */
const KEYS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----([^-]+)-----END /g;

/** A value, and what a program may print of it alone: its lines, the credentials of an address, private keys. */
export function partsOf(value: string): string[] {
  const lines = value.includes('\n') ? value.split(/\r?\n/).map((line) => line.trim()) : [];
  const password = PASSWORD.exec(value)?.[1];
  const address = isAddress(value) ? [...value.matchAll(IN_QUERY)] : [];
  const keys = [...value.matchAll(KEYS), ...address].map(([, key = '']) => key);
  const parts = [
    ...lines.filter((line) => !FRAME.test(line)),
    ...(password ? [password] : []),
    ...keys,
  ];
  return [...new Set([value, ...parts])].filter(isRedactable);
}

/** The values to redact, with their parts; no path below the root. */
export function secretsToRedact(secrets: AppSecrets, root: string): Secret[] {
  const { file, all, former, started } = secrets;
  const used = (file?.started ?? []).flatMap(({ instance }) => started(instance));
  const secret = [...all, ...used, ...former].filter(({ plain }) => !plain);
  const parts = secret.flatMap(({ value }) => partsOf(value.reveal()));
  const texts = parts.filter((text) => !text.startsWith(`${root}/`));
  return [...new Set(texts)].map((text) => new Secret(text));
}
