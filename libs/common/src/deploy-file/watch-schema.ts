/** The schema of `watch` and `canary` in `.deploy.yml`. */
import { duration } from '../yaml/duration.ts';
import type { Schema } from '../yaml/schema.ts';
import { line } from './kinds.ts';

export const CANARY_SCHEMA: Schema = {
  type: 'array',
  description: 'Shares of the requests that a release gets first, each for the time of watch',
  items: {
    type: ['string', 'integer'],
    pattern: '^[0-9]{1,2}%?$',
    wanted: 'a percentage like 5%',
    numbers: [5, 95],
  },
};

export const WATCH_SCHEMA: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['for'],
  properties: {
    for: duration('How long, from 10s to 24h'),
    policy: {
      type: 'string',
      enum: ['rollback', 'report'],
      description: 'What happens to a release that is judged bad [default: rollback]',
    },
    access_log: {
      type: 'string',
      pattern: '^/',
      wanted: 'an absolute path',
      description: "The proxy's access log: combined, or JSON with status and duration",
    },
    haproxy: {
      type: 'object',
      description: "HAProxy's counters, instead of an access log",
      additionalProperties: false,
      required: ['socket', 'backend'],
      properties: {
        socket: {
          type: 'string',
          pattern: '^/',
          wanted: 'an absolute path',
          description: 'Its stats socket',
        },
        backend: {
          type: 'string',
          pattern: '^[A-Za-z0-9:._-]{1,100}$',
          wanted: 'the name of a backend',
          description: 'The backend of the app',
        },
      },
    },
    errors: {
      type: ['string', 'integer'],
      pattern: '^[0-9]{1,2}(?:\\.[0-9]+)?%?$',
      wanted: 'a percentage like 5%',
      numbers: [1, 50],
      description: 'Share of requests answered with 5xx that must be found [default: 5%]',
    },
    latency: {
      type: ['string', 'integer'],
      pattern: '^[0-9]{1,3}(?:\\.[0-9]+)?x?$',
      wanted: 'a factor like 2x',
      numbers: [2, 100],
      description: 'How many times slower than before counts as slow [default: 2x]',
    },
    logs: {
      type: 'boolean',
      description: 'false: error lines that the version before never printed do not count',
    },
    run: line('A command, run every 10 seconds, that must exit with status 0'),
    query: {
      type: 'object',
      description: 'A query, asked every 15 seconds, that has a result if something is wrong',
      additionalProperties: false,
      required: ['url', 'expr'],
      properties: {
        url: {
          type: 'string',
          pattern: '^https?://',
          wanted: 'an http or https address',
          description: 'Address of a Prometheus server',
        },
        expr: { type: 'string', minLength: 1, description: 'An expression, as of an alert' },
      },
    },
  },
};
