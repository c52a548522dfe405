/** The schema of `watch` and `canary` in `.deploy.yml`. */
import { choice, duration, flag, keys, list, matching, numeric } from '../yaml/keys.ts';
import { line, webAddress } from './kinds.ts';

export const CANARY_SCHEMA = list(
  numeric('^[0-9]{1,2}%?$', 'a percentage like 5%', [5, 95]),
  'Shares of the requests that a release gets first, each for the time of watch',
);

const path = (description: string) => matching('^/', 'an absolute path', description);

export const WATCH_SCHEMA = keys(
  {
    for: duration('How long, from 10s to 24h'),
    policy: choice(
      ['rollback', 'report'],
      'What happens to a release that is judged bad [default: rollback]',
    ),
    access_log: path("The proxy's access log: combined, or JSON with status and duration"),
    haproxy: keys(
      {
        socket: path('Its stats socket'),
        backend: matching(
          '^[A-Za-z0-9:._-]{1,100}$',
          'the name of a backend',
          'The backend of the app',
        ),
      },
      "HAProxy's counters, instead of an access log",
      ['socket', 'backend'],
    ),
    errors: numeric(
      '^[0-9]{1,2}(?:\\.[0-9]+)?%?$',
      'a percentage like 5%',
      [1, 50],
      'Share of requests answered with 5xx that must be found [default: 5%]',
    ),
    latency: numeric(
      '^[0-9]{1,3}(?:\\.[0-9]+)?x?$',
      'a factor like 2x',
      [1.5, 100],
      'How many times slower than before counts as slow [default: 2x]',
    ),
    logs: flag('false: error lines that the version before never printed do not count'),
    run: line('A command, run every 10 seconds, that must exit with status 0'),
    query: keys(
      {
        url: webAddress('Address of a Prometheus server'),
        expr: { type: 'string', minLength: 1, description: 'An expression, as of an alert' },
      },
      'A query, asked every 15 seconds, that has a result if something is wrong',
      ['url', 'expr'],
    ),
  },
  undefined,
  ['for'],
);
