/** The published JSON Schemas and the checks at run time take and refuse the same files. */
import type { ValidateFunction } from 'ajv';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  configRefusal,
  configSchema,
  deployRefusal,
  deploySchema,
  scalar,
} from './schema-files.ts';

/** Rules that JSON Schema cannot say, by the words of the run time. */
const BEYOND = [/ends before it begins$/, /which the env of .* does not set$/];

/** Rules about addresses, whose problems name a place and not a key. */
const ADDRESSES =
  / is not an https address| must be https| must not contain a user name or password/;

function agrees(schema: ValidateFunction, told: string | null, value: unknown, beyond: RegExp[]) {
  const text = JSON.stringify(value);
  if (told !== null && beyond.some((rule) => rule.test(told))) return;
  assert.is(schema(value), told === null, `${text}: ${told ?? JSON.stringify(schema.errors)}`);
}

const texts = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }));

const some = <T>(keys: Record<string, fc.Arbitrary<T>>) => fc.record(keys, { requiredKeys: [] });

const orScalar = (value: fc.Arbitrary<unknown>) => fc.oneof({ weight: 6, arbitrary: value }, texts);

const names = fc.constantFrom('default', 'blue', 'PORT', '-x', 'a b');

const deployFile = some<unknown>({
  instances: orScalar(
    fc.dictionary(
      names,
      orScalar(some<unknown>({ domain: scalar, env: fc.dictionary(names, scalar) })),
      {
        maxKeys: 2,
      },
    ),
  ),
  build: orScalar(some<unknown>({ run: texts, timeout: scalar })),
  start: orScalar(
    some<unknown>({
      type: fc.constantFrom('process', 'command', 'systemd', 'compose', 'pm2', 'none', 'x', null),
      run: scalar,
      unit: scalar,
      user: scalar,
      file: scalar,
      config: scalar,
      timeout: scalar,
    }),
  ),
  stop: scalar,
  health: orScalar(
    some<unknown>({ url: scalar, cmd: scalar, tcp: scalar, expect: scalar, within: scalar }),
  ),
  keep: scalar,
  shared: texts,
  hooks: orScalar(some<unknown>({ pre_build: texts, on_failure: texts, other: texts })),
  notify: orScalar(some<unknown>({ channel: scalar })),
  other: scalar,
});

const credentials = {
  telegram_bot_token: scalar,
  telegram_chat_id: scalar,
  discord_webhook: scalar,
};

const template = orScalar(some<unknown>({ telegram: scalar, discord: scalar, other: scalar }));

const configFile = some<unknown>({
  ...credentials,
  code_host_api_url: scalar,
  max_deploy_retries: scalar,
  notify: orScalar(
    some<unknown>({
      ...credentials,
      channel: scalar,
      telegram_thread_id: scalar,
      telegram_api_url: scalar,
      verbose_errors: scalar,
      templates: orScalar(some<unknown>({ started: template, failure: template, other: template })),
    }),
  ),
});

test('any .deploy.yml is judged alike, the rules that JSON Schema cannot say aside', () => {
  fc.assert(
    fc.property(deployFile, (value) => agrees(deploySchema, deployRefusal(value), value, BEYOND)),
    { numRuns: 5_000 },
  );
});

test('any config.yml is judged alike, the rules about addresses aside', () => {
  fc.assert(
    fc.property(configFile, (value) =>
      agrees(configSchema, configRefusal(value), value, [ADDRESSES]),
    ),
    { numRuns: 5_000 },
  );
});

test.run();
