/** The published JSON Schemas and the checks at run time take and refuse the same files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readYaml } from '@runner/common/yaml/read';
import type { Tree } from '@runner/common/yaml/schema';
import { checkoutFolder } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { configRefusal, configSchema, deployRefusal, deploySchema } from './schema-files.ts';

const start = { type: 'process', run: 'x' };
const health = { cmd: 'x' };
const access_log = '/var/log/a';
const haproxy = { socket: '/a', backend: 'b' };
const unitOf = (unit: string, reload = false) => ({ type: 'systemd', unit, reload });

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
  { start, watch: '10m' },
  { start, watch: { for: '10m', errors: null, access_log: null } },
  { start, watch: { for: '10m', errors: 5.5, latency: 1.5, access_log } },
  { start, watch: { for: '10m', errors: '5%', haproxy } },
  { start, health, traffic: 'socket', watch: '10m', canary: ['5%', 25] },
  { start, canary: [] },
  { start: unitOf('a@.service'), health, traffic: 'socket' },
  { start, health, traffic: { type: 'command', run: 'x', ports: [1, 2] } },
  { start, health, traffic: 'ports', instances: { a: { ports: [1, 2] } } },
  { start: { type: 'command', run: 'x' }, logs: 'y' },
  { jobs: { a: { run: 'x', at: '03:00', zone: 'UTC', every: null } } },
  { migrate: { run: 'x', rehearse: false, backup: false } },
  { migrate: { run: 'x', backup: null } },
  { start, health, traffic: 'socket', instances: { a: {}, b: { traffic: false } } },
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
  { watch: '10m' },
  { start, watch: { for: '10m', errors: '5%' } },
  { start, watch: { for: '10m', errors: '5%', access_log: null } },
  { start, watch: { for: '10m', latency: '2x' } },
  { start, watch: { for: '10m', latency: '2x', haproxy } },
  { start, watch: { for: '10m', access_log, haproxy } },
  { start, watch: { for: '10m', latency: 1.2, access_log } },
  { start, canary: '5%' },
  { start, watch: '10m', canary: 5 },
  { start, health, traffic: { type: 'socket', overlap: false }, watch: '10m', canary: '5%' },
  { start, traffic: 'socket' },
  { start: { type: 'none' }, health, traffic: 'socket' },
  { start: unitOf('a.service'), health, traffic: 'socket' },
  { start: unitOf('a@.service', true), health, traffic: 'socket' },
  { start, health, traffic: 'command' },
  { start, health, traffic: { type: 'command', ports: [1, 2] } },
  { start, health, traffic: { type: 'socket', run: 'x' } },
  { start, health, traffic: { type: 'socket', ports: [1, 2] } },
  { start, logs: 'x' },
  { start, instances: { a: {}, b: { traffic: false } } },
  { start, instances: { a: { ports: [1, 2] } } },
  { jobs: { a: { run: 'x' } } },
  { jobs: { a: { run: 'x', at: '03:00', every: '1m' } } },
  { jobs: { a: { run: 'x', every: '1m', zone: 'UTC' } } },
  { jobs: { a: { run: 'x', after: 'deploy', catch_up: true } } },
  { migrate: { run: 'x', backup: true } },
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

test.run();
