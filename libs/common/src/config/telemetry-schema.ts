/** The schema of `telemetry` in config.yml. */
import { type Schema, text } from '../yaml/schema.ts';

/** Where deploys are recorded, in the order in which results are printed. */
export const TELEMETRY_NAMES = ['otlp', 'grafana', 'sentry'] as const;
/** A service that records deploys. */
export type TelemetryName = (typeof TELEMETRY_NAMES)[number];

/** Whether a destination records deploys, rather than showing messages. */
export function isTelemetry(name: string): name is TelemetryName {
  return TELEMETRY_NAMES.some((each) => each === name);
}

/** The services in the text of `--channel`; without one, and for `all`, every one. */
export function telemetryIn(list = 'all'): readonly TelemetryName[] {
  const words = list.split(',');
  return TELEMETRY_NAMES.filter((name) => words.includes('all') || words.includes(name));
}

const target = (description: string, required: string[], properties: Record<string, Schema>) =>
  ({
    type: 'object',
    additionalProperties: false,
    description,
    required,
    properties,
  }) as const satisfies Schema;
const TOKEN = text('Access token, a secret');

/** The section `telemetry`. */
export const TELEMETRY: Schema = {
  type: 'object',
  additionalProperties: false,
  description: 'Where each deploy and rollback is recorded: traces, annotations, releases',
  properties: {
    otlp: target('A trace of each deploy, by OTLP over HTTP', ['url'], {
      url: text('Address of the collector, e.g. http://localhost:4318'),
      headers: {
        type: 'object',
        propertyPattern: '^[A-Za-z0-9-]{1,64}$',
        description: 'Headers of each request, e.g. Authorization; their values are secret',
        additionalProperties: text('A value, a secret'),
      },
    }),
    grafana: target('An annotation for each deploy', ['url', 'token'], {
      url: text('Address of Grafana'),
      token: TOKEN,
    }),
    sentry: target('A release and a deploy in Sentry', ['org', 'projects', 'token'], {
      url: text('Address of Sentry [default: https://sentry.io]'),
      org: text('The organization'),
      projects: {
        type: 'array',
        items: text('A project'),
        minItems: 1,
        description: 'The projects',
      },
      token: TOKEN,
    }),
  },
};
