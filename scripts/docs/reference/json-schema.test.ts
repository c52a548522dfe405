/** The published JSON Schemas and the checks at run time take and refuse the same files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeHostOf } from '@runner/common/config/code-hosts';
import { maxDeployRetries, notifySettingsOf } from '@runner/common/config/settings';
import { readDeployFile } from '@runner/common/deploy-file/read';
import { Failure } from '@runner/common/foundation/failure';
import { readYaml } from '@runner/common/yaml/read';
import type { Tree } from '@runner/common/yaml/schema';
import { checkoutFolder, distFolder } from '@runner/testing/run';
import { Ajv, type ValidateFunction } from 'ajv';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

function compiled(name: string): ValidateFunction {
  const path = join(distFolder(), 'share/runner/schemas', `${name}.schema.json`);
  // Types are joined on purpose: a time is a text or a number.
  const ajv = new Ajv({ allowUnionTypes: true, strictRequired: false, strictTypes: false });
  return ajv.compile(JSON.parse(readFileSync(path, 'utf8')));
}

const deploySchema = compiled('deploy');
const configSchema = compiled('config');

/** JSON is YAML: what the run time says about a value, null when it takes it. */
function refusal(read: (bytes: Buffer) => void, value: unknown): string | null {
  try {
    read(Buffer.from(JSON.stringify(value)));
    return null;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

const deployRefusal = (value: unknown) => refusal((bytes) => void readDeployFile(bytes), value);

const configRefusal = (value: unknown) =>
  refusal((bytes) => {
    const file = { name: 'config.yml', code: 'config_invalid' } as const;
    const config = { file, tree: readYaml(bytes, file) };
    codeHostOf(config, {});
    maxDeployRetries(config);
    notifySettingsOf(config, {});
  }, value);

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

const DEPLOY_VALID: readonly unknown[] = [
  null,
  {},
  { build: 'make' },
  { build: ['make', 'make install'], keep: 1000 },
  { build: { run: 'make', timeout: '30m' } },
  { build: { run: null, timeout: 90 } },
  { build: null, stop: null, shared: null, notify: null, instances: null },
  { start: { type: 'process', run: 'node server.js', timeout: '1h' } },
  { start: { type: 'systemd', unit: 'app@%i.service', user: true, reload: false } },
  { start: { type: 'compose' } },
  { start: { type: 'compose', file: 'deploy/compose.yaml' } },
  { start: { type: 'pm2', config: 'ecosystem.config.cjs', run: null } },
  { start: { type: 'command', run: 'up' }, stop: 'down' },
  { start: { type: 'none', timeout: 5 } },
  { health: { url: 'http://127.0.0.1:3000/', expect: '200-399', within: '1m' } },
  { health: { tcp: '127.0.0.1:5432', expect: 204 } },
  { health: { cmd: 'true', url: null } },
  {
    instances: {
      a: null,
      b: { domain: 'b.example.org', env: { PORT: 3000, RATIO: 0.5, X: null } },
    },
  },
  { shared: ['.env', 'uploads/', 'a/b.git/c'], instances: { default: {} } },
  { shared: 'uploads/', build: { run: 'make', env: 'TOKEN' } },
  { shared: [], instances: { a: {}, b: {} } },
  { hooks: { pre_build: 'a', on_failure: ['b', 'c'], post_build: null } },
  { notify: {} },
  { notify: { channel: 'both' } },
];

const DEPLOY_INVALID: readonly unknown[] = [
  7,
  'text',
  [],
  { biuld: 'make' },
  { build: '' },
  { build: ['make', ''] },
  { build: [null] },
  { build: { run: 'make', timeout: '30 minutes' } },
  { build: { timeout: -1 } },
  { build: { timeout: 1.5 } },
  { start: null },
  { start: {} },
  { start: { type: null } },
  { start: { type: 'docker' } },
  { start: { type: 'process' } },
  { start: { type: 'process', run: null } },
  { start: { type: 'process', run: 'x', unit: 'a.service' } },
  { start: { type: 'systemd' } },
  { start: { type: 'systemd', unit: '-a' } },
  { start: { type: 'systemd', unit: 'a.service', user: 'yes' } },
  { start: { type: 'compose', file: '../compose.yaml' } },
  { start: { type: 'compose', file: '/compose.yaml' } },
  { start: { type: 'pm2' } },
  { start: { type: 'pm2', config: 'a.cjs', run: 'b' } },
  { start: { type: 'none', run: 'x' } },
  { stop: 'down' },
  { stop: 'down', start: { type: 'process', run: 'x' } },
  { health: null },
  { health: {} },
  { health: { url: 'http://a/', tcp: 'a:1' } },
  { health: { url: 'ftp://a/' } },
  { health: { tcp: 'localhost' } },
  { health: { cmd: 'x', expect: 99 } },
  { health: { cmd: 'x', expect: '200-' } },
  { instances: [] },
  { instances: { '-a': {} } },
  { instances: { a: { env: { '1A': 'x' } } } },
  { instances: { a: { env: { A: true } } } },
  { instances: { a: { domain: 'a b' } } },
  { instances: { a: { port: 1 } } },
  { shared: { path: 'uploads/' } },
  { shared: ['../x'] },
  { shared: ['/x'] },
  { shared: ['a/./b'] },
  { shared: ['a//b'] },
  { shared: ['.git/hooks'] },
  { shared: ['/'] },
  { shared: [''] },
  { shared: ['.env'], instances: { a: {}, b: {} } },
  { hooks: { before: 'x' } },
  { notify: 'telegram' },
  { notify: { channel: 'smoke' } },
  { keep: 0 },
  { keep: 1001 },
  { keep: '5' },
];

const CONFIG_VALID: readonly unknown[] = [
  null,
  {},
  { of_my_own: [1, 2] },
  { code_host_api_url: null, max_deploy_retries: 5 },
  { telegram_bot_token: '', telegram_chat_id: '', discord_webhook: '' },
  { telegram_bot_token: '1:a', telegram_chat_id: -1001234567890 },
  { notify: null },
  { notify: { channel: 'both', telegram_bot_token: '123456:ABC-d_e', telegram_chat_id: '@news' } },
  { notify: { telegram_thread_id: 7, verbose_errors: false, max_deploy_retries: 1000 } },
  { notify: { templates: { failure: { telegram: 'x', discord: null }, started: null } } },
  { notify: { of_my_own: 'x' } },
];

const CONFIG_INVALID: readonly unknown[] = [
  7,
  [],
  { max_deploy_retries: 0 },
  { max_deploy_retries: 'three' },
  { telegram_bot_token: 12 },
  { telegram_bot_token: 'abc' },
  { telegram_chat_id: 'a chat' },
  { telegram_chat_id: 1.5 },
  { discord_webhook: 5 },
  { notify: 'yes' },
  { notify: { channel: 'none' } },
  { notify: { verbose_errors: 'yes' } },
  { notify: { telegram_thread_id: 0 } },
  { notify: { templates: { failure: 'x' } } },
  { notify: { templates: { unknown: {} } } },
];

test('examples of .deploy.yml are taken, and refused, by both', () => {
  for (const value of DEPLOY_VALID) {
    assert.is(deployRefusal(value), null, JSON.stringify(value));
    assert.ok(
      deploySchema(value),
      `${JSON.stringify(value)} ${JSON.stringify(deploySchema.errors)}`,
    );
  }
  for (const value of DEPLOY_INVALID) {
    assert.is.not(deployRefusal(value), null, JSON.stringify(value));
    assert.not.ok(deploySchema(value), JSON.stringify(value));
  }
});

test('examples of config.yml are taken, and refused, by both', () => {
  for (const value of CONFIG_VALID) {
    assert.is(configRefusal(value), null, JSON.stringify(value));
    assert.ok(
      configSchema(value),
      `${JSON.stringify(value)} ${JSON.stringify(configSchema.errors)}`,
    );
  }
  for (const value of CONFIG_INVALID) {
    assert.is.not(configRefusal(value), null, JSON.stringify(value));
    assert.not.ok(configSchema(value), JSON.stringify(value));
  }
});

/** A file's values as an editor sees them. */
function plainValue(tree: Tree): unknown {
  if (tree.kind === 'list') return tree.items.map(plainValue);
  if (tree.kind === 'scalar') return tree.value;
  return Object.fromEntries(tree.entries.map(({ key, value }) => [key, plainValue(value)]));
}

test('what the documents show as examples is taken by both', () => {
  const folder = checkoutFolder();
  const shown = readdirSync(join(folder, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => {
      const text = readFileSync(join(folder, 'docs', file), 'utf8');
      const blocks = text.matchAll(
        /```yaml\n(# yaml-language-server: .*?\/(\w+)\.schema\.json\n.*?)```/gs,
      );
      return [...blocks].map(([, example = '', schema]) => ({ example, schema }));
    });
  assert.equal([...new Set(shown.map(({ schema }) => schema))].sort(), ['config', 'deploy']);
  for (const { example, schema } of shown) {
    const bytes = Buffer.from(example);
    const value = plainValue(readYaml(bytes, { name: 'docs', code: 'config_invalid' }));
    const told = schema === 'deploy' ? deployRefusal(value) : configRefusal(value);
    assert.is(told, null, example);
    const validate = schema === 'deploy' ? deploySchema : configSchema;
    assert.ok(validate(value), JSON.stringify(validate.errors));
  }
});

/** Values that are near to what files hold. */
const scalar = fc.oneof(
  fc.constantFrom(
    ...[
      'make',
      '',
      '30s',
      '5m',
      '200-299',
      '404',
      'a:1',
      'http://a/${PORT}',
      'app.service',
      'x/../y',
    ],
    ...[
      'process',
      'command',
      'systemd',
      'compose',
      'pm2',
      'none',
      'telegram',
      'both',
      '@name',
      '1:ab',
    ],
    ...['.env', 'uploads/', './a', 'a/b', '.git', '-x', '/x', 'a//', 'https://a.example/'],
  ),
  fc.constantFrom(0, 1, 5, 200, 599, 600, 1000, 1001, -7, 1.5, true, false, null),
);
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
