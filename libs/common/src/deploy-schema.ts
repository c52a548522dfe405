/** What `.deploy.yml` may hold, in the words of JSON Schema. */
import type { Schema } from './schema.ts';

export const HOOKS = [
  'pre_build',
  'post_build',
  'pre_switch',
  'post_deploy',
  'on_failure',
] as const;

const DURATION = '^[0-9]{1,9}(?:ms|s|m|h)?$';
const duration: Schema = {
  type: ['string', 'integer'],
  pattern: DURATION,
  wanted: 'a time like 500ms, 30s, 5m or 1h',
};
const line: Schema = { type: 'string', minLength: 1, wanted: 'a command' };
/** A file of the release: no option, no way out. */
const inRelease: Schema = {
  type: 'string',
  pattern: '^(?!-)(?!/)(?!.*(?:^|/)\\.\\.(?:/|$)).{1,200}$',
  wanted: 'a file of the repository',
};
const commands: Schema = { anyOf: [line, { type: 'array', items: line }] };
const NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$';

/** The keys of `.deploy.yml`; what depends on more than one of them is checked in deploy-file.ts. */
export const DEPLOY_SCHEMA: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    instances: {
      type: 'object',
      propertyPattern: NAME,
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          domain: { type: 'string', pattern: '^[A-Za-z0-9.:-]{1,253}$', wanted: 'a domain name' },
          env: {
            type: 'object',
            propertyPattern: '^[A-Za-z_][A-Za-z0-9_]*$',
            additionalProperties: { type: ['string', 'integer'] },
          },
        },
      },
    },
    build: {
      anyOf: [
        line,
        { type: 'array', items: line },
        {
          type: 'object',
          additionalProperties: false,
          properties: { run: commands, timeout: duration },
        },
      ],
    },
    start: {
      type: 'object',
      additionalProperties: false,
      required: ['type'],
      properties: {
        type: { type: 'string', enum: ['process', 'command', 'systemd', 'compose', 'pm2', 'none'] },
        run: line,
        unit: {
          type: 'string',
          pattern: '^[A-Za-z0-9][A-Za-z0-9:_.%@-]{0,200}$',
          wanted: 'the name of a unit like app.service or app@%i.service',
        },
        user: { type: 'boolean' },
        reload: { type: 'boolean' },
        file: inRelease,
        config: inRelease,
        timeout: duration,
      },
    },
    stop: line,
    health: {
      type: 'object',
      additionalProperties: false,
      properties: {
        url: { type: 'string', pattern: '^https?://', wanted: 'an http or https address' },
        cmd: line,
        tcp: { type: 'string', pattern: '^[^\\s]+:[^\\s:]+$', wanted: 'host:port' },
        expect: {
          type: ['string', 'integer'],
          pattern: '^[1-5][0-9][0-9](?:-[1-5][0-9][0-9])?$',
          wanted: 'an HTTP status like 200, or a range like 200-299',
        },
        interval: duration,
        timeout: duration,
        within: duration,
      },
    },
    keep: { type: 'integer', minimum: 1, maximum: 1000 },
    shared: { type: 'array', items: { type: 'string', minLength: 1 } },
    hooks: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(HOOKS.map((hook) => [hook, commands])),
    },
    notify: {
      type: 'object',
      additionalProperties: false,
      properties: { channel: { type: 'string', enum: ['telegram', 'discord', 'both'] } },
    },
  },
};
