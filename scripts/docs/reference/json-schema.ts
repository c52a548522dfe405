/**
 * The published JSON Schemas of config.yml and .deploy.yml, derived from the schemas that check these
 * files at run time. What the run time says in code, a key without a value counting as absent and
 * the rules between keys, is spelled out here from the same data.
 */
import { HEALTH_KINDS, START_KEYS } from '@runner/common/deploy-file/schema';
import type { ObjectSchema, Schema, TextSchema } from '@runner/common/yaml/schema';
import {
  CANARY_NEEDS,
  has,
  is,
  JOB_RULES,
  startedAs,
  TRAFFIC_NEEDS,
  TRAFFIC_RULES,
  WATCH_RULES,
  when,
  without,
} from './key-rules.ts';

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
      if (schema.mayBeBoolean)
        return {
          ...about,
          type: ['string', 'boolean', ...(nullable ? ['null'] : [])],
          ...textRules(schema, nullable),
        };
      // An editor reads the word false as a boolean.
      if (schema.enum?.includes('false')) return { ...about, enum: [...schema.enum, false, null] };
      return { ...about, ...type('string'), ...textRules(schema, nullable) };
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

function textRules(
  { pattern, minLength, enum: names, mayBeBoolean, refused }: TextSchema,
  nullable: boolean,
): Json {
  const isTrueRefused = refused?.some(([wrong]) => new RegExp(wrong, 'u').test('true'));
  return {
    ...(mayBeBoolean && isTrueRefused && { not: { enum: ['true', true] } }),
    ...(names && { enum: nullable ? [...names, null] : names }),
    ...(pattern !== undefined && { pattern }),
    ...(minLength !== undefined && { minLength }),
  };
}

/** A pattern says nothing about a number, so its range stands beside it. */
function numberOrText(schema: TextSchema, nullable: boolean): Json {
  const isWhole = schema.numbers && !new RegExp(schema.pattern ?? '', 'u').test('1.5');
  const types = ['string', isWhole ? 'integer' : 'number'];
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

/** The rules between the keys of `start`: what a type needs, and what does not go with it. */
function startRules(): Json[] {
  const all = [
    ...new Set(Object.values(START_KEYS).flatMap(({ needs, may }) => [...needs, ...may])),
  ];
  return Object.entries(START_KEYS).map(([type, keys]) => {
    const [needs, may]: (readonly string[])[] = [keys.needs, keys.may];
    const foreign = all.filter((key) => !needs?.includes(key) && !may?.includes(key));
    return when(is('type', type), {
      ...without(...foreign),
      ...(needs && needs.length > 0 && { oneOf: needs.map(has) }),
    });
  });
}

/** A path of `shared` stays inside the release. */
const SHARED_PATH = '^(?!/)(?!(?:.*/)?(?:\\.|\\.\\.|\\.git)(?:/|$))(?!.*//+[^/])[^/].*$';

/** A list that is not empty. */
const SOME = { anyOf: [{ type: 'array', minItems: 1 }, { type: ['string', 'integer'] }] };

/** A schema with more rules. */
const ruled = (schema: Json = {}, rules: readonly Json[] = []): Json => ({
  ...schema,
  allOf: [...((schema.allOf as Json[]) ?? []), ...rules],
});

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
  const eachJob = properties.jobs?.additionalProperties as Json;
  return {
    ...HEAD,
    title: '.deploy.yml of runner',
    ...whole,
    type: ['object', 'null'],
    properties: {
      ...properties,
      start: ruled(properties.start, startRules()),
      watch: ruled(properties.watch, WATCH_RULES),
      traffic: ruled(properties.traffic, TRAFFIC_RULES),
      jobs: { ...properties.jobs, additionalProperties: ruled(eachJob, JOB_RULES) },
      // An empty section asks nothing.
      health: { ...properties.health, type: 'object', oneOf: HEALTH_KINDS.map(has) },
      shared: {
        ...properties.shared,
        ...oneOrMore({ type: 'string', pattern: SHARED_PATH }, true),
      },
    },
    allOf: [
      ...['stop', 'logs'].map((key) => when(has(key), startedAs({ const: 'command' }))),
      ...['watch', 'traffic'].map((key) => when(has(key), startedAs({ not: { const: 'none' } }))),
      when(has('traffic'), TRAFFIC_NEEDS),
      when(
        { not: has('traffic') },
        { properties: { instances: { additionalProperties: without('traffic', 'ports') } } },
      ),
      when({ ...has('canary'), properties: { canary: SOME } }, CANARY_NEEDS),
      when(
        { ...has('shared'), properties: { shared: SOME } },
        { properties: { instances: { maxProperties: 1 } } },
      ),
    ],
  };
}
