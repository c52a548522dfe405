/**
 * The published JSON Schemas of config.yml and .deploy.yml, derived from the schemas that check these
 * files at run time. What the run time says in code, a key without a value counting as absent and
 * the rules between keys, is spelled out here from the same data.
 */
import { HEALTH_KINDS, START_KEYS } from '@runner/common/deploy-file/schema';
import type { ObjectSchema, Schema, TextSchema } from '@runner/common/yaml/schema';

/** A JSON Schema. */
export type Json = Readonly<Record<string, unknown>>;

/** The form of a value; `null`, a key without a value, is legal where it counts as absent. */
export function jsonSchema(schema: Schema, nullable = false): Json {
  const about = schema.description === undefined ? {} : { description: schema.description };
  if ('anyOf' in schema) {
    const forms = schema.anyOf.map((form) =>
      'type' in form && form.type === 'array' ? listOf(jsonSchema(form.items)) : jsonSchema(form),
    );
    return { ...about, anyOf: [...forms, ...(nullable ? [{ type: 'null' }] : [])] };
  }
  const type = (name: string) => ({ type: nullable ? [name, 'null'] : name });
  switch (schema.type) {
    case 'object':
      return { ...about, ...objectSchema(schema, nullable) };
    case 'array':
      return { ...about, ...oneOrMore(jsonSchema(schema.items), nullable, schema.minItems) };
    case 'integer':
      return { ...about, ...type('integer'), minimum: schema.minimum, maximum: schema.maximum };
    case 'boolean':
      return { ...about, ...type('boolean') };
    case 'string':
      return schema.mayBeBoolean
        ? { ...about, type: ['string', 'boolean'], ...textRules(schema, nullable) }
        : { ...about, ...type('string'), ...textRules(schema, nullable) };
    default:
      return { ...about, ...numberOrText(schema, nullable) };
  }
}

const listOf = (items: Json, minItems?: number): Json => ({
  type: 'array',
  items,
  ...(minItems !== undefined && { minItems }),
});

/** A list of one may be a single value. */
function oneOrMore(items: Json, nullable: boolean, minItems?: number): Json {
  return { anyOf: [listOf(items, minItems), items, ...(nullable ? [{ type: 'null' }] : [])] };
}

function textRules({ pattern, minLength, enum: names }: TextSchema, nullable: boolean): Json {
  return {
    ...(names && { enum: nullable ? [...names, null] : names }),
    ...(pattern !== undefined && { pattern }),
    ...(minLength !== undefined && { minLength }),
  };
}

/** A pattern says nothing about a number, so its range stands beside it. */
function numberOrText(schema: TextSchema, nullable: boolean): Json {
  const types = ['string', ...(schema.numbers ? ['integer'] : ['number'])];
  const [minimum, maximum] = schema.numbers ?? [];
  return {
    type: nullable ? [...types, 'null'] : types,
    ...textRules(schema, nullable),
    ...(schema.numbers && { minimum, maximum }),
  };
}

function objectSchema(schema: ObjectSchema, nullable: boolean): Json {
  const { properties = {}, additionalProperties: others, propertyPattern, required } = schema;
  const named = Object.entries(properties).map(([key, value]) => [key, jsonSchema(value, true)]);
  return {
    // A section that needs a key cannot be left empty.
    type: nullable && required === undefined ? ['object', 'null'] : 'object',
    properties: Object.fromEntries(named),
    ...(propertyPattern !== undefined && { propertyNames: { pattern: propertyPattern } }),
    additionalProperties: typeof others === 'boolean' ? others : jsonSchema(others, true),
    ...(required && { allOf: required.map(has) }),
  };
}

/** A key is there, and not without a value. */
function has(key: string): Json {
  return { required: [key], properties: { [key]: { not: { type: 'null' } } } };
}

/** The rules between the keys of `start`: what a type needs, and what does not go with it. */
function startRules(): Json[] {
  const all = [
    ...new Set(Object.values(START_KEYS).flatMap(({ needs, may }) => [...needs, ...may])),
  ];
  return Object.entries(START_KEYS).map(([type, keys]) => {
    const [needs, may]: (readonly string[])[] = [keys.needs, keys.may];
    const foreign = all.filter((key) => !needs?.includes(key) && !may?.includes(key));
    return {
      if: { properties: { type: { const: type } } },
      // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
      then: {
        properties: Object.fromEntries(foreign.map((key) => [key, { type: 'null' }])),
        ...(needs && needs.length > 0 && { oneOf: needs.map(has) }),
      },
    };
  });
}

/** A path of `shared` stays inside the release. */
const SHARED_PATH = '^(?!/)(?!(?:.*/)?(?:\\.|\\.\\.|\\.git)(?:/|$))(?!.*//+[^/])[^/].*$';

/** A list that is not empty. */
const SOME = { anyOf: [{ type: 'array', minItems: 1 }, { type: 'string' }] };

const HEAD = { $schema: 'http://json-schema.org/draft-07/schema#' };

export function configJsonSchema(schema: ObjectSchema): Json {
  // An empty file is a legal one.
  return {
    ...HEAD,
    title: 'config.yml of runner',
    ...jsonSchema(schema),
    type: ['object', 'null'],
  };
}

/** The JSON Schema of .deploy.yml, the rules between its keys included. */
export function deployJsonSchema(schema: ObjectSchema): Json {
  const whole = jsonSchema(schema);
  const properties = whole.properties as Record<string, Record<string, unknown>>;
  return {
    ...HEAD,
    title: '.deploy.yml of runner',
    ...whole,
    type: ['object', 'null'],
    properties: {
      ...properties,
      start: {
        ...properties.start,
        allOf: [...((properties.start?.allOf as Json[]) ?? []), ...startRules()],
      },
      // An empty section asks nothing.
      health: { ...properties.health, type: 'object', oneOf: HEALTH_KINDS.map(has) },
      shared: {
        ...properties.shared,
        ...oneOrMore({ type: 'string', pattern: SHARED_PATH }, true),
      },
    },
    allOf: [
      {
        if: has('stop'),
        // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
        then: {
          required: ['start'],
          properties: { start: { properties: { type: { const: 'command' } } } },
        },
      },
      {
        if: { ...has('shared'), properties: { shared: SOME } },
        // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
        then: { properties: { instances: { maxProperties: 1 } } },
      },
    ],
  };
}
