/** The rules between the keys of `.deploy.yml`, as JSON Schema says them. Each lets pass what is not a section. */
import type { Json } from './json-schema.ts';

/** A key is there, and not without a value. */
export const has = (key: string): Json => ({
  required: [key],
  properties: { [key]: { not: { type: 'null' } } },
});

/** Keys that are absent, or without a value. */
export const without = (...names: readonly string[]): Json => ({
  properties: Object.fromEntries(names.map((key) => [key, { type: 'null' }])),
});

/** A key has this value, or is absent. */
export const is = (key: string, value: unknown): Json => ({
  properties: { [key]: { const: value } },
});

export const when = (condition: Json, rule: Json): Json => ({
  if: condition,
  // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
  then: rule,
});

/** `start` is there, with such a type. */
export const startedAs = (type: Json): Json => ({
  required: ['start'],
  properties: { start: { properties: { type } } },
});

export const WATCH_RULES: readonly Json[] = [
  when(has('errors'), { anyOf: [has('access_log'), has('haproxy')] }),
  when(has('latency'), has('access_log')),
  when(has('haproxy'), without('access_log')),
];

export const TRAFFIC_RULES: readonly Json[] = [
  { not: { const: 'command' } },
  when(is('type', 'command'), has('run')),
  when({ properties: { type: { enum: ['socket', 'ports'] } } }, without('run')),
  when(is('type', 'socket'), without('ports')),
];

/** What goes with `traffic`: a health check and, of systemd, a template unit. */
export const TRAFFIC_NEEDS: Json = {
  ...has('health'),
  properties: {
    start: when(is('type', 'systemd'), {
      properties: { unit: { pattern: '@\\.' }, reload: { not: { const: true } } },
    }),
  },
};

export const CANARY_NEEDS: Json = {
  required: ['watch', 'traffic'],
  properties: {
    watch: { not: { type: 'null' } },
    traffic: {
      anyOf: [
        { const: 'socket' },
        {
          type: 'object',
          properties: { type: { const: 'socket' }, overlap: { not: { const: false } } },
        },
      ],
    },
  },
};

export const JOB_RULES: readonly Json[] = [
  { oneOf: ['at', 'every', 'cron', 'after'].map(has) },
  when(has('zone'), { anyOf: [has('at'), has('cron')] }),
  when(has('after'), {
    properties: { on: { not: { const: 'one' } }, catch_up: { type: 'null' } },
  }),
];
