/** The schema of `.deploy.yml`. */
import { LIMIT_KEYS } from '../config/build-limits.ts';
import { CHANNEL_FORMS } from '../config/channels.ts';
import { networkSchema } from '../config/network.ts';
import { MIN_PACKAGE_AGE } from '../config/package-age.ts';
import {
  choice,
  duration,
  flag,
  keys,
  list,
  matching,
  named,
  numeric,
  whole,
} from '../yaml/keys.ts';
import { TRAFFIC_TYPES } from './instance.ts';
import { JOBS_SCHEMA } from './jobs.ts';
import { commands, inRelease, line, ports, webAddress } from './kinds.ts';
import { MIGRATE_SCHEMA } from './migrate.ts';
import { PREVIEW_SCHEMA } from './preview.ts';
import { CANARY_SCHEMA, WATCH_SCHEMA } from './watch-schema.ts';

/** The hooks, in the order of a deploy. */
export const HOOKS = [
  'pre_build',
  'post_build',
  'pre_switch',
  'post_deploy',
  'on_failure',
] as const;

/** `health` has exactly one of these keys. */
export const HEALTH_KINDS = ['url', 'cmd', 'tcp'] as const;

/** Keys for each type of `start`: one of `needs`, any of `may`; both time limits go with all. */
export const START_KEYS = {
  process: { needs: ['run'], may: [] },
  command: { needs: ['run'], may: [] },
  systemd: { needs: ['unit'], may: ['user', 'reload'] },
  compose: { needs: [], may: ['file'] },
  pm2: { needs: ['config', 'run'], may: [] },
  none: { needs: [], may: [] },
} as const satisfies Record<string, { needs: readonly string[]; may: readonly string[] }>;

/** Name of an environment variable. */
export const VARIABLE = '^[A-Za-z_][A-Za-z0-9_]*$';
const NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$';

const WHEN: Readonly<Record<(typeof HOOKS)[number], string>> = {
  pre_build: 'Before the build; a failure fails the deploy',
  post_build: 'After the build; a failure fails the deploy',
  pre_switch: 'Before the switch to the new release; a failure fails the deploy',
  post_deploy: 'After a deploy that succeeded; a failure changes nothing',
  on_failure: 'After a deploy that failed; a failure changes nothing',
};

const trafficType = choice(
  TRAFFIC_TYPES,
  'How the proxy finds the live version: socket, ports (a flag file) or command',
);

/** The keys of `.deploy.yml`; read.ts checks what depends on several of them. */
export const DEPLOY_SCHEMA = keys({
  instances: named(
    keys({
      domain: matching(
        '^(?![-.])[A-Za-z0-9.:-]{1,253}$',
        'a domain name',
        'Domain of the instance, shown in messages',
      ),
      env: named(
        { type: ['string', 'integer'], mayBeEmpty: true },
        'Variables for its commands, its hooks and the app itself',
        VARIABLE,
      ),
      traffic: flag('false: it gets no requests, such as a worker, and is restarted'),
      ports: ports('Its two ports, if several instances have traffic of type ports or command'),
    }),
    'The instances, by name [default: one called "default"]',
    NAME,
  ),
  build: {
    description: "Commands that build the release, run in the release's folder",
    anyOf: [
      line(),
      list(line()),
      keys({
        run: commands('A command, or a list of commands'),
        env: list(
          matching(VARIABLE, 'the name of a variable'),
          "The app's secrets that the build gets",
        ),
        timeout: duration('Time limit of all of them [default: 30m]'),
        ...LIMIT_KEYS,
      }),
    ],
  },
  min_package_age: MIN_PACKAGE_AGE,
  start: keys(
    {
      type: choice(Object.keys(START_KEYS), 'What starts the app; none: the switch is the deploy'),
      run: line('The command (process, command, pm2)'),
      unit: matching(
        '^[A-Za-z0-9][A-Za-z0-9:_.%@-]{0,200}$',
        'the name of a unit like app.service or app@%i.service',
        'The unit (systemd); %i, or the place before the dot of app@.service, is the instance',
      ),
      user: flag("Your own manager instead of the system's (systemd)"),
      reload: flag('Reload instead of restart (systemd)'),
      file: inRelease('The compose file (compose) [default: compose.yaml]'),
      config: inRelease('The ecosystem file (pm2)'),
      timeout: duration('Time limit of a start [default: 60s]'),
      stop_timeout: duration(
        'Time limit of a stop [default: 10s for process, 90s for systemd and compose, else 60s]',
      ),
    },
    'How the app is started [default: type none]',
    ['type'],
  ),
  stop: line('The command that stops the app; only works with start.type command'),
  logs: line(
    'The command that prints what the app printed, for runner logs; only works with start.type command',
  ),
  health: keys(
    {
      url: webAddress('An address that must answer; ${NAME} is a variable of the instance'),
      cmd: line('A command that must exit with status 0'),
      tcp: matching(
        '^[^\\s]+:[^\\s:]+$',
        'host:port',
        'A host:port that must accept a connection; ${NAME} is a variable',
      ),
      expect: numeric(
        '^[1-5][0-9][0-9](?:-[1-5][0-9][0-9])?$',
        'an HTTP status like 200, or a range like 200-299',
        [100, 599],
        'HTTP status, or a range of them, that is healthy [default: 200-299]',
      ),
      interval: duration('Time between two checks [default: 1s]'),
      timeout: duration('Time limit of one check [default: 5s]'),
      within: duration('Time within which it must become healthy [default: 30s]'),
    },
    'When an instance counts as healthy: one of url, cmd and tcp',
  ),
  traffic: {
    description:
      'Deploys without a dropped request: two versions overlap until requests have moved',
    anyOf: [
      trafficType,
      keys(
        {
          type: trafficType,
          ports: ports('Two ports; PORT is whichever is free (ports, command)'),
          run: line('The command that moves new requests to PORT (command)'),
          drain: duration('Time limit for the old version to finish its requests [default: 30s]'),
          overlap: flag('false: stop the old version before the new one starts [default: true]'),
        },
        undefined,
        ['type'],
      ),
    ],
  },
  watch: {
    description: 'How long a release is judged after it is live, and what by [default: not at all]',
    anyOf: [duration('How long, from 10s to 24h'), WATCH_SCHEMA],
  },
  canary: CANARY_SCHEMA,
  migrate: MIGRATE_SCHEMA,
  jobs: JOBS_SCHEMA,
  keep: whole(1, 1000, 'Number of good releases to keep [default: 5]'),
  shared: list(
    { type: 'string', minLength: 1 },
    'Paths that survive a deploy; a trailing slash makes a folder',
  ),
  hooks: keys(
    {
      ...Object.fromEntries(HOOKS.map((hook) => [hook, commands(WHEN[hook])])),
      timeout: duration('Time limit of each command [default: 60s]'),
      network: networkSchema(
        'Hosts that hooks may reach, other than pre_build and post_build, which are part of the build [default: all]',
      ),
    },
    'Commands at certain moments, each a command or a list of commands',
  ),
  preview: PREVIEW_SCHEMA,
  notify: keys(
    {
      channel: {
        anyOf: CHANNEL_FORMS,
        description: 'In which channel, or a list of them [default: every active one]',
      },
    },
    'Sends notifications, with {} to every channel; absent: none are sent',
  ),
});
