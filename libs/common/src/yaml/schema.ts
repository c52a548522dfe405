/** Checks a file's values against a schema; an error names the line and key of the first wrong one. */
import { Failure, type FailureCode } from '../foundation/failure.ts';
import { harmlessLine } from '../text/harmless.ts';

/** A value of a file and its line, from 1. */
export type Tree =
  | { readonly kind: 'map'; readonly line: number; readonly entries: readonly SectionEntry[] }
  | { readonly kind: 'list'; readonly line: number; readonly items: readonly Tree[] }
  | {
      readonly kind: 'scalar';
      readonly line: number;
      readonly value: string | number | boolean | null;
      /** As written, so that `-1001234567890123456` keeps its digits. */
      readonly source: string;
    };
export interface SectionEntry {
  readonly key: string;
  readonly line: number;
  readonly value: Tree;
}

/**
 * The part of JSON Schema that our files need. The manual page and the published JSON Schema are
 * generated from `description`, which is one line.
 */
export type Schema =
  | TextSchema
  | {
      readonly type: 'integer';
      readonly minimum: number;
      readonly maximum: number;
      readonly description?: string;
    }
  | { readonly type: 'boolean'; readonly description?: string }
  /** A list of one may be a single value. */
  | {
      readonly type: 'array';
      readonly items: Schema;
      readonly minItems?: number;
      /** A key without a value is an empty list; otherwise it counts as absent. */
      readonly mayBeEmpty?: boolean;
      readonly description?: string;
    }
  | ObjectSchema
  | { readonly anyOf: readonly Schema[]; readonly description?: string };

/** A text, or a number as it is written. */
export interface TextSchema {
  readonly type: 'string' | readonly ['string', 'integer'];
  readonly enum?: readonly string[];
  readonly pattern?: string;
  /** What `pattern` accepts, in words that follow "must be". */
  readonly wanted?: string;
  /** Patterns of texts to refuse with a message of their own. */
  readonly refused?: readonly (readonly [pattern: string, words: string])[];
  readonly minLength?: number;
  /** true and false are texts, too. */
  readonly mayBeBoolean?: boolean;
  /** A key without a value is an empty text; otherwise it counts as absent. */
  readonly mayBeEmpty?: boolean;
  /** Smallest and largest number that `pattern` accepts when the value is a number. */
  readonly numbers?: readonly [least: number, largest: number];
  readonly description?: string;
}

/** A section: its keys and what each holds. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** false: no other keys; true: any other keys; a schema: what they hold. */
  readonly additionalProperties: boolean | Schema;
  readonly propertyPattern?: string;
  readonly description?: string;
}

/** A file's name in messages, and the code of its failures. */
export interface FileName {
  readonly name: string;
  readonly code: FailureCode;
}

/** One sentence `file:line: key: what is wrong`. */
export function problem(file: FileName, line: number, key: string, what: string): Failure {
  const place = key ? `${key}: ` : '';
  return new Failure(file.code, `${file.name}:${line}: ${harmlessLine(place)}${what}`, {
    line,
    key,
  });
}

const WORDS = { map: 'a section', list: 'a list', scalar: 'a single value' } as const;

/** Checks a tree; returns plain values (sections become Maps). Throws the file's Failure. */
export function check(tree: Tree, schema: Schema, file: FileName, key = ''): unknown {
  if ('anyOf' in schema) return checkAny(tree, schema.anyOf, file, key);
  if (schema.type === 'object') return checkMap(tree, schema, file, key);
  if (schema.type === 'array') {
    if (tree.kind !== 'list') {
      if (tree.kind === kindOf(schema.items)) return [check(tree, schema.items, file, key)];
      throw problem(file, tree.line, key, `must be a list, not ${WORDS[tree.kind]}`);
    }
    if (tree.items.length < (schema.minItems ?? 0))
      throw problem(file, tree.line, key, 'must not be an empty list');
    return tree.items.map((item, index) => check(item, schema.items, file, `${key}[${index}]`));
  }
  if (tree.kind !== 'scalar') {
    throw problem(file, tree.line, key, `must be a single value, not ${WORDS[tree.kind]}`);
  }
  if (schema.type === 'boolean') {
    if (typeof tree.value === 'boolean') return tree.value;
    throw problem(file, tree.line, key, 'must be true or false');
  }
  if (schema.type === 'integer') {
    const { minimum, maximum } = schema;
    const value = tree.value;
    if (
      typeof value === 'number' &&
      Number.isSafeInteger(value) &&
      value >= minimum &&
      value <= maximum
    ) {
      return value;
    }
    throw problem(file, tree.line, key, `must be a whole number from ${minimum} to ${maximum}`);
  }
  return checkText(tree, schema, file, key);
}

/** What a list of one may be written as: its item alone. */
const kindOf = (items: Schema): Tree['kind'] =>
  'type' in items && items.type === 'object' ? 'map' : 'scalar';

function checkText(
  tree: Tree & { kind: 'scalar' },
  schema: TextSchema,
  file: FileName,
  key: string,
): string {
  const fail = (what: string) => problem(file, tree.line, key, what);
  const numberAllowed = schema.type !== 'string';
  const isText =
    typeof tree.value === 'string' ||
    (numberAllowed && typeof tree.value === 'number') ||
    (schema.mayBeBoolean && typeof tree.value === 'boolean') ||
    // As false is among words.
    schema.enum?.includes(tree.source);
  if (!isText && schema.enum) throw fail(`must be one of ${schema.enum.join(', ')}`);
  if (!isText)
    throw fail(schema.wanted ? `must be ${schema.wanted}` : 'must be a text (put it in quotes)');
  const text = typeof tree.value === 'string' ? tree.value : tree.source;
  if (schema.enum && !schema.enum.includes(text))
    throw fail(`must be one of ${schema.enum.join(', ')}`);
  if (text.includes('\0')) throw fail('must not contain a NUL character');
  if (text.length < (schema.minLength ?? 0)) throw fail('must not be empty');
  for (const [pattern, words] of schema.refused ?? []) {
    if (new RegExp(pattern, 'u').test(text)) throw fail(words);
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(text)) {
    throw fail(`must be ${schema.wanted ?? `a text like ${schema.pattern}`}`);
  }
  return text;
}

function checkMap(
  tree: Tree,
  schema: ObjectSchema,
  file: FileName,
  key: string,
): Map<string, unknown> {
  const values = new Map<string, unknown>();
  if (tree.kind === 'scalar' && tree.value === null)
    return requireKeys(values, schema, { file, key, line: tree.line });
  if (tree.kind !== 'map')
    throw problem(file, tree.line, key, `must be a section, not ${WORDS[tree.kind]}`);
  for (const entry of tree.entries) {
    const path = key ? `${key}.${entry.key}` : entry.key;
    const known = Object.hasOwn(schema.properties ?? {}, entry.key);
    const wanted = known ? schema.properties?.[entry.key] : schema.additionalProperties;
    if (wanted === true) continue;
    if (wanted === false || wanted === undefined) {
      const names = Object.keys(schema.properties ?? {}).join(', ');
      throw problem(file, entry.line, path, `unknown key (known here: ${names})`);
    }
    if (
      !known &&
      schema.propertyPattern &&
      !new RegExp(schema.propertyPattern, 'u').test(entry.key)
    ) {
      throw problem(file, entry.line, path, 'is not a valid name');
    }
    const isEmpty = entry.value.kind === 'scalar' && entry.value.value === null;
    if (!isEmpty || ('type' in wanted && wanted.type === 'object'))
      values.set(entry.key, check(entry.value, wanted, file, path));
    else if ('mayBeEmpty' in wanted) values.set(entry.key, wanted.type === 'array' ? [] : '');
  }
  return requireKeys(values, schema, { file, key, line: tree.line });
}

function requireKeys(
  values: Map<string, unknown>,
  schema: ObjectSchema,
  { file, key, line }: Readonly<{ file: FileName; key: string; line: number }>,
): Map<string, unknown> {
  const missing = schema.required?.find((name) => !values.has(name));
  if (missing) throw problem(file, line, key, `needs the key ${missing}`);
  return values;
}

/** Uses the first form of the right kind, so that the message is about the form that was meant. */
function checkAny(tree: Tree, forms: readonly Schema[], file: FileName, key: string): unknown {
  const fits = (form: Schema) => {
    if (!('type' in form)) return false;
    if (form.type === 'object') return tree.kind === 'map';
    if (form.type === 'array') return tree.kind === 'list';
    return tree.kind === 'scalar';
  };
  const form = forms.find(fits);
  if (form) return check(tree, form, file, key);
  throw problem(file, tree.line, key, `must not be ${WORDS[tree.kind]}`);
}

/** A section of a checked file. */
export function section(
  values: Map<string, unknown>,
  key: string,
): Map<string, unknown> | undefined {
  const value = values.get(key);
  return value instanceof Map ? (value as Map<string, unknown>) : undefined;
}
