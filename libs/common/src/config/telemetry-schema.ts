/** The schema of `telemetry` in config.yml. */
import { keys, list, named, text } from '../yaml/keys.ts';

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

const TOKEN = text('Access token, a secret');

/** The section `telemetry`. */
export const TELEMETRY = keys(
  {
    otlp: keys(
      {
        url: text('Address of the collector, e.g. http://localhost:4318'),
        headers: named(
          text('A value, a secret'),
          'Headers of each request, e.g. Authorization; their values are secret',
          '^[A-Za-z0-9-]{1,64}$',
        ),
      },
      'A trace of each deploy, by OTLP over HTTP',
      ['url'],
    ),
    grafana: keys(
      { url: text('Address of Grafana'), token: TOKEN },
      'An annotation for each deploy',
      ['url', 'token'],
    ),
    sentry: keys(
      {
        url: text('Address of Sentry [default: https://sentry.io]'),
        org: text('The organization'),
        projects: list(text('A project'), 'The projects', 1),
        token: TOKEN,
      },
      'A release and a deploy in Sentry',
      ['org', 'projects', 'token'],
    ),
  },
  'Where each deploy and rollback is recorded: traces, annotations, releases',
);
