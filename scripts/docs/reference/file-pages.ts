/** The manual pages of the two files that people write, made from the schemas that check them. */
import type { ObjectSchema, Schema } from '@runner/common/yaml/schema';
import { bold, escaped, filled, italic, item, page, section, verbatim } from './roff.ts';
import { reference } from './tool-page.ts';

interface FilePage {
  /** Name of the page, such as `runner-config`. */
  readonly name: string;
  readonly about: string;
  readonly schema: ObjectSchema;
  readonly intro: string;
  readonly example: readonly string[];
  readonly files: readonly (readonly [string, string])[];
  readonly see: readonly string[];
}

/** What may stand behind a key, in a word or two. */
function kindOf(schema: Schema): string {
  if ('anyOf' in schema) {
    const kinds = schema.anyOf.map(kindOf);
    return [...new Set(kinds)].join(' or ');
  }
  if (schema.type === 'object') return 'section';
  // A list of one may be its item alone.
  if (schema.type === 'array') return 'list, or its only item';
  if (schema.type === 'boolean') return 'true|false';
  if (schema.type === 'integer')
    return schema.maximum === Number.MAX_SAFE_INTEGER
      ? `${schema.minimum} or more`
      : `${schema.minimum} to ${schema.maximum}`;
  if (schema.enum) return schema.enum.join('|');
  return schema.wanted ?? 'text';
}

/** Every key below a section, the whole path in front: `health.url`. */
function keyItems(schema: ObjectSchema, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) =>
    describe(value, path === '' ? key : `${path}.${key}`),
  );
}

function describe(schema: Schema, path: string): string[] {
  const term = `${bold(path)} ${italic(`(${kindOf(schema)})`)}`;
  return [
    ...item(term, ...filled(escaped(`${schema.description ?? ''}.`.replace(/([.\]])\.$/, '$1')))),
    ...below(schema, path),
  ];
}

function below(schema: Schema, path: string): string[] {
  if ('anyOf' in schema) return schema.anyOf.flatMap((form) => below(form, path));
  if (schema.type === 'array') return below(schema.items, path);
  if (schema.type !== 'object') return [];
  const named = schema.additionalProperties;
  return [
    ...keyItems(schema, path),
    ...(typeof named === 'object' ? below(named, `${path}.<NAME>`) : []),
  ];
}

/** `runner-config.5`. */
export function filePage(about: FilePage, version: string): string {
  return page(about.name, 5, version, [
    ...section('NAME', filled(`${escaped(about.name)} \\- ${escaped(about.about)}`)),
    ...section('DESCRIPTION', filled(escaped(about.intro))),
    ...section('KEYS', keyItems(about.schema, '')),
    ...section(
      'FILES',
      about.files.flatMap(([path, what]) => item(bold(path), ...filled(escaped(what)))),
    ),
    ...section('EXAMPLES', verbatim(about.example)),
    ...section('SEE ALSO', filled(about.see.map(reference).join(', '))),
  ]);
}
