/** The key of a GitHub App, stored instead of a token: `github-app:<id>:<the key as PKCS #8, base64>`. */
import type { AppState } from '../apps/state.ts';
import { readGiven } from '../files/read.ts';
import { Failure, notProvided, usage } from '../foundation/failure.ts';
import type { Io } from '../foundation/io.ts';
import { Secret } from '../secrets/secret.ts';
import type { Keyring } from './keyring.ts';
import { seal } from './vault.ts';

const PREFIX = 'github-app:';
/** Bytes; a larger file is the wrong one. */
const FILE_MAX = 65_536;

/** A GitHub App that is installed for a repository. */
export interface AppKey {
  readonly id: string;
  /** PKCS #8, DER. */
  readonly key: Buffer;
}

/** The options of a command that name a GitHub App. */
export interface AppChoice {
  readonly 'app-id': string | undefined;
  readonly 'app-key-file': string | undefined;
}

/** Reads `--app-id` and `--app-key-file`; undefined without them. Throws `token_invalid`, `usage`. */
export function readAppKey(io: Io, choice: AppChoice): Secret | undefined {
  const { 'app-id': id, 'app-key-file': file } = choice;
  if (id === undefined && file === undefined) return undefined;
  if (id === undefined || file === undefined)
    throw notProvided(id === undefined ? '--app-id <N>' : '--app-key-file <FILE>');
  if (!/^[A-Za-z0-9.]{1,64}$/.test(id))
    throw usage(`invalid value for '--app-id <N>': it is not the id of a GitHub App`);
  const text = readGiven(io, file, FILE_MAX, 'the key');
  return new Secret(`${PREFIX}${id}:${rsaKey(text).toString('base64')}`);
}

function rsaKey(text: string): Buffer {
  try {
    const key = process.getBuiltinModule('node:crypto').createPrivateKey(text);
    if (key.asymmetricKeyType === 'rsa') return key.export({ type: 'pkcs8', format: 'der' });
  } catch {
    // An error of node:crypto says nothing that helps.
  }
  throw new Failure('token_invalid', 'the key of the GitHub App is not an RSA private key (PEM)');
}

/** The App whose key is stored instead of a token; undefined for a token. */
export function appKeyOf(token: Secret): AppKey | undefined {
  const text = token.reveal();
  if (!text.startsWith(PREFIX)) return undefined;
  const [id = '', key = ''] = text.slice(PREFIX.length).split(':');
  return { id, key: Buffer.from(key, 'base64') };
}

/** What a state says of a new token; the id of an App is in plain, so that 0.1.0 refuses the file. */
export function storedToken(
  token: Secret,
  app: string,
  keyring: Keyring,
  twoLayers: boolean,
): AppState['state'] {
  const id = appKeyOf(token)?.id;
  const sealed = seal(token, app, keyring, { twoLayers });
  return { repohost_token: sealed, ...(id !== undefined && { github_app: id }) };
}
