/**
 * Sealed values: JWE in compact serialisation (RFC 7516). A256GCM with the master key (`dir`), or with
 * a content key of the app that the master key wraps (A256GCMKW). The authenticated header names key,
 * app and field, so that a value copied to another app or field does not open.
 */
import { Failure, type FailureCode } from '../foundation/failure.ts';
import { Secret } from '../secrets/secret.ts';
import { jsonObject } from '../text/json.ts';
import { decode, KEY_BYTES, type Keyring, nodeCrypto } from './keyring.ts';

/** What a sealed value is for. */
export interface SealedField {
  /** In the authenticated header. */
  readonly name: string;
  /** In messages: `the stored token`. */
  readonly words: string;
  readonly corrupt: FailureCode;
  /** It was sealed for another app or field. */
  readonly foreign: FailureCode;
}

const TOKEN: SealedField = {
  name: 'state.repohost_token',
  words: 'the stored token',
  corrupt: 'token_corrupt',
  foreign: 'token_wrong_app',
};
const IV_BYTES = 12;
const TAG_BYTES = 16;

interface Header {
  alg: 'dir' | 'A256GCMKW';
  enc: 'A256GCM';
  kid: string;
  app: string;
  fld: string;
  /** IV and tag of the wrapped content key; A256GCMKW alone. */
  iv?: string;
  tag?: string;
}

/** How a value is sealed. */
interface Sealing {
  /** With a content key that the master key wraps, as `--ckey` asks for. */
  readonly twoLayers?: boolean;
  /** A token by default. */
  readonly field?: SealedField;
}

export function seal(
  value: Secret,
  app: string,
  keyring: Keyring,
  { twoLayers = false, field = TOKEN }: Sealing = {},
): string {
  const [current] = keyring;
  const header: Header = {
    alg: twoLayers ? 'A256GCMKW' : 'dir',
    enc: 'A256GCM',
    kid: current.kid,
    app,
    fld: field.name,
  };
  let contentKey = current.bytes;
  let wrapped = '';
  if (twoLayers) {
    contentKey = nodeCrypto().randomBytes(KEY_BYTES);
    const iv = nodeCrypto().randomBytes(IV_BYTES);
    const cipher = nodeCrypto().createCipheriv('aes-256-gcm', current.bytes, iv);
    wrapped = Buffer.concat([cipher.update(contentKey), cipher.final()]).toString('base64url');
    header.iv = iv.toString('base64url');
    header.tag = cipher.getAuthTag().toString('base64url');
  }
  const head = Buffer.from(JSON.stringify(header)).toString('base64url');
  const iv = nodeCrypto().randomBytes(IV_BYTES);
  const cipher = nodeCrypto().createCipheriv('aes-256-gcm', contentKey, iv);
  cipher.setAAD(Buffer.from(head, 'ascii'));
  const text = Buffer.concat([cipher.update(value.reveal(), 'utf8'), cipher.final()]);
  const parts = [iv, text, cipher.getAuthTag()].map((part) => part.toString('base64url'));
  if (twoLayers) contentKey.fill(0);
  return [head, wrapped, ...parts].join('.');
}

/** The id of the master key named in a sealed value; undefined for any other text. */
export function keyIdOf(value: string): string | undefined {
  return headerOf(value.split('.')[0] ?? '')?.kid;
}

/** Whether a sealed value has a content key; resealing keeps that. */
export function hasTwoLayers(value: string): boolean {
  return headerOf(value.split('.')[0] ?? '')?.alg === 'A256GCMKW';
}

/**
 * Opens a sealed value of `app`. Throws `token_corrupt` (altered, truncated, foreign algorithm),
 * `mkey_unknown` (sealed with a key that is not in the file), `token_wrong_app` (copied), or what
 * `field` has in their place.
 */
export function open(value: string, app: string, keyring: Keyring, field = TOKEN): Secret {
  const { words } = field;
  const corrupt = (why: string) => new Failure(field.corrupt, `${words} of '${app}' ${why}`);
  const parts = value.split('.');
  const [head = '', wrapped = '', ivText = '', sealed = '', tagText = ''] = parts;
  const header = headerOf(head);
  if (parts.length !== 5 || !header) throw corrupt('is damaged');
  const twoLayers = header.alg === 'A256GCMKW';
  if ((header.alg !== 'dir' && !twoLayers) || header.enc !== 'A256GCM') {
    throw corrupt('has an algorithm that is not allowed');
  }
  const iv = decode(ivText, IV_BYTES);
  const tag = decode(tagText, TAG_BYTES);
  const bytes = decode(sealed);
  if (!iv || !tag || !bytes || (!twoLayers && wrapped !== '')) throw corrupt('is damaged');
  const key = keyring.find((each) => each.kid === header.kid);
  if (!key) {
    throw new Failure(
      'mkey_unknown',
      `${words} of '${app}' is sealed with a master key that is not in use`,
    );
  }
  const contentKey = twoLayers ? unwrap(header, wrapped, key.bytes) : key.bytes;
  const plain = contentKey && decrypt(contentKey, { iv, tag, bytes }, head);
  if (!plain) throw corrupt('is damaged');
  // Checked after decryption: only now is the header known to be the one that was sealed.
  if (header.app !== app || header.fld !== field.name) {
    throw new Failure(field.foreign, `${words} of '${app}' was sealed for another app or field`);
  }
  return new Secret(plain.toString('utf8'));
}

function unwrap(header: Header, wrapped: string, key: Buffer): Buffer | undefined {
  const iv = decode(header.iv, IV_BYTES);
  const tag = decode(header.tag, TAG_BYTES);
  const bytes = decode(wrapped, KEY_BYTES);
  return iv && tag && bytes && decrypt(key, { iv, tag, bytes });
}

function decrypt(
  key: Buffer,
  { iv, tag, bytes }: Readonly<Record<'iv' | 'tag' | 'bytes', Buffer>>,
  aad?: string,
): Buffer | undefined {
  try {
    const decipher = nodeCrypto().createDecipheriv('aes-256-gcm', key, iv, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(tag);
    if (aad !== undefined) decipher.setAAD(Buffer.from(aad, 'ascii'));
    const plain = decipher.update(bytes);
    // GCM holds nothing back: this only checks the tag.
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}

function headerOf(part: string): Header | undefined {
  return jsonObject(decode(part)?.toString('utf8') ?? '') as Header | undefined;
}
