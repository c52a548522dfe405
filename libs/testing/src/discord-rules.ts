/**
 * What Discord takes as the body of a webhook message (openapi.json of discord-api-spec, and what
 * is not in it: lengths count code points of the trimmed text, fields are not empty, 6000 over all
 * embeds), and how it words what it does not take.
 */

/** Errors as Discord nests them: by field and index, `_errors` at the leaves. */
export interface FormErrors {
  _errors?: { code: string; message: string }[];
  [field: string]: FormErrors | { code: string; message: string }[] | undefined;
}

type FieldRule =
  | { readonly is: 'text'; readonly max: number; readonly min?: number; readonly required?: true }
  | { readonly is: 'url' | 'time' | 'flag' | 'snowflake' | 'mention' }
  | { readonly is: 'integer'; readonly max?: number }
  | { readonly is: 'list'; readonly of: FieldRule; readonly max: number }
  | { readonly is: 'object'; readonly fields: Readonly<Record<string, FieldRule>> };

const text = (max: number): FieldRule => ({ is: 'text', max });
const required = (max: number): FieldRule => ({ is: 'text', max, min: 1, required: true });
const object = (fields: Readonly<Record<string, FieldRule>>): FieldRule => ({
  is: 'object',
  fields,
});
const list = (of: FieldRule, max: number): FieldRule => ({ is: 'list', of, max });
const url: FieldRule = { is: 'url' };
const flag: FieldRule = { is: 'flag' };
const integer: FieldRule = { is: 'integer' };
const picture = object({ url, width: integer, height: integer });

const EMBED = object({
  type: text(152_133),
  url,
  title: text(256),
  color: { is: 'integer', max: 0xffffff },
  timestamp: { is: 'time' },
  description: text(4096),
  author: object({ name: text(256), url, icon_url: url }),
  footer: object({ text: text(2048), icon_url: url }),
  image: picture,
  thumbnail: picture,
  provider: object({ name: text(256), url }),
  fields: list(object({ name: required(256), value: required(1024), inline: flag }), 25),
});

const MESSAGE = object({
  content: text(2000),
  embeds: list(EMBED, 10),
  allowed_mentions: object({
    parse: list({ is: 'mention' }, 1521),
    users: list({ is: 'snowflake' }, 100),
    roles: list({ is: 'snowflake' }, 100),
    replied_user: flag,
  }),
  tts: flag,
  flags: integer,
  username: { is: 'text', max: 80, min: 1 },
  avatar_url: url,
  thread_name: text(100),
  applied_tags: list({ is: 'snowflake' }, 5),
});

/** Code points over all embeds. */
const MAX_EMBEDS = 6000;

type PayloadFields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is PayloadFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Length as Discord measures it. */
export function lengthOf(value: unknown): number {
  return typeof value === 'string' ? [...value.trim()].length : 0;
}

const leaf = (code: string, message: string): FormErrors => ({ _errors: [{ code, message }] });

function checkText(rule: Extract<FieldRule, { is: 'text' }>, value: unknown): FormErrors | null {
  if (typeof value !== 'string')
    return leaf('STRING_TYPE_CONVERT', `Could not interpret "${value}" as string.`);
  const length = lengthOf(value);
  if (rule.required && length === 0) return leaf('BASE_TYPE_REQUIRED', 'This field is required');
  if (rule.min !== undefined && (length < rule.min || length > rule.max)) {
    return leaf('BASE_TYPE_BAD_LENGTH', `Must be between ${rule.min} and ${rule.max} in length.`);
  }
  if (length > rule.max) {
    return leaf('BASE_TYPE_MAX_LENGTH', `Must be ${rule.max} or fewer in length.`);
  }
  return null;
}

function checkUrl(value: unknown): FormErrors | null {
  const length = checkText({ is: 'text', max: 2048 }, value);
  if (length !== null || value === '') return length;
  if (!URL.canParse(value as string)) return leaf('URL_TYPE_INVALID_URL', 'Not a well formed URL.');
  if (/^(https?|attachment):/.test(value as string)) return null;
  const words = "Scheme must be one of ('http', 'https', 'attachment').";
  return leaf('URL_TYPE_INVALID_SCHEME', words);
}

const ISO_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/;

function checkPlain(rule: FieldRule, value: unknown): FormErrors | null {
  if (rule.is === 'flag') {
    if (typeof value === 'boolean') return null;
    return leaf('BOOLEAN_TYPE_CONVERT', 'Must be either true or false.');
  }
  if (rule.is === 'integer') {
    const good = Number.isSafeInteger(value);
    if (!good) return leaf('NUMBER_TYPE_COERCE', `Value "${value}" is not int.`);
    if (rule.max === undefined) return null;
    if ((value as number) < 0)
      return leaf('NUMBER_TYPE_MIN', 'int value should be greater than or equal to 0.');
    if ((value as number) <= rule.max) return null;
    return leaf('NUMBER_TYPE_MAX', `int value should be less than or equal to ${rule.max}.`);
  }
  if (rule.is === 'time') {
    const good =
      typeof value === 'string' && ISO_TIME.test(value) && !Number.isNaN(Date.parse(value));
    return good
      ? null
      : leaf('DATE_TIME_TYPE_PARSE', `Could not parse ${value}. Should be ISO8601.`);
  }
  if (rule.is === 'mention') {
    if (['users', 'roles', 'everyone'].includes(value as string)) return null;
    return leaf('BASE_TYPE_CHOICES', "Value must be one of ('users', 'roles', 'everyone').");
  }
  const good = typeof value === 'string' && /^(0|[1-9]\d*)$/.test(value);
  return good ? null : leaf('NUMBER_TYPE_COERCE', `Value "${value}" is not snowflake.`);
}

/** Null when there is nothing to complain of. */
function check(rule: FieldRule, value: unknown): FormErrors | null {
  if (value === null && !(rule.is === 'text' && rule.required)) return null;
  if (rule.is === 'text') return checkText(rule, value);
  if (rule.is === 'url') return checkUrl(value);
  if (rule.is !== 'list' && rule.is !== 'object') return checkPlain(rule, value);

  const found: [string, FormErrors | null][] = [];
  if (rule.is === 'list') {
    if (!Array.isArray(value))
      return leaf('LIST_TYPE_CONVERT', 'Only iterables may be used in a ListType');
    if (value.length > rule.max) {
      return leaf('BASE_TYPE_MAX_LENGTH', `Must be ${rule.max} or fewer in length.`);
    }
    value.forEach((item, index) => void found.push([String(index), check(rule.of, item)]));
  } else {
    if (!isObject(value))
      return leaf('MODEL_TYPE_CONVERT', 'Only dictionaries may be used in a DictType');
    for (const [name, own] of Object.entries(rule.fields)) {
      if (Object.hasOwn(value, name)) found.push([name, check(own, value[name])]);
      else if (own.is === 'text' && own.required) {
        found.push([name, leaf('BASE_TYPE_REQUIRED', 'This field is required')]);
      }
    }
    // Stricter than the platform: a misspelt name must not pass a test.
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(rule.fields, name))
        found.push([name, leaf('UNKNOWN_FIELD', 'No such field.')]);
    }
  }
  const errors = found.filter(([, error]) => error !== null);
  return errors.length === 0 ? null : (Object.fromEntries(errors) as FormErrors);
}

/** What counts towards the limit of one message's embeds. */
export function embedLength(embed: PayloadFields): number {
  const inside = (value: unknown, name: string) => lengthOf(isObject(value) ? value[name] : '');
  const fields = Array.isArray(embed.fields) ? (embed.fields as unknown[]) : [];
  return (
    lengthOf(embed.title) +
    lengthOf(embed.description) +
    inside(embed.author, 'name') +
    inside(embed.footer, 'text') +
    fields.reduce((sum: number, field) => sum + inside(field, 'name') + inside(field, 'value'), 0)
  );
}

/** Null for a body that is taken; an empty message is not looked for here. */
export function checkMessage(body: unknown): FormErrors | null {
  const errors = check(MESSAGE, body);
  if (errors !== null || !isObject(body)) return errors;
  const embeds = (body.embeds ?? []) as PayloadFields[];
  if (embeds.reduce((sum, embed) => sum + embedLength(embed), 0) > MAX_EMBEDS) {
    const words = `Embed size exceeds maximum size of ${MAX_EMBEDS}`;
    return { embeds: leaf('MAX_EMBED_SIZE_EXCEEDED', words) };
  }
  const mentions = (body.allowed_mentions ?? {}) as { parse?: string[] } & PayloadFields;
  for (const kind of ['users', 'roles'] as const) {
    const ids = (mentions[kind] ?? []) as unknown[];
    if (ids.length > 0 && mentions.parse?.includes(kind)) {
      const words = `parse:["${kind}"] and ${kind}: [ids...] are mutually exclusive.`;
      return { allowed_mentions: leaf('MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE', words) };
    }
  }
  return null;
}

/** An embed without text, picture or link shows nothing. */
function isBlank(embed: PayloadFields): boolean {
  const picture = isObject(embed.image) || isObject(embed.thumbnail);
  return embedLength(embed) === 0 && !picture && lengthOf(embed.url) === 0;
}

/** A message in which nothing would be seen. The body has passed checkMessage(). */
export function isEmptyMessage(body: PayloadFields): boolean {
  const embeds = (body.embeds ?? []) as PayloadFields[];
  return lengthOf(body.content) === 0 && embeds.every(isBlank);
}
