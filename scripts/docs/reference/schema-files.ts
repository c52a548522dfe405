/** What the short and the long tests of json schema share. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeHostOf } from '@runner/common/config/code-hosts';
import { maxDeployRetries, notifySettingsOf } from '@runner/common/config/settings';
import { readDeployFile } from '@runner/common/deploy-file/read';
import { Failure } from '@runner/common/foundation/failure';
import { readYaml } from '@runner/common/yaml/read';
import { distFolder } from '@runner/testing/run';
import { Ajv, type ValidateFunction } from 'ajv';
import fc from 'fast-check';

export function compiled(name: string): ValidateFunction {
  const path = join(distFolder(), 'share/runner/schemas', `${name}.schema.json`);
  // Types are joined on purpose: a time is a text or a number.
  const ajv = new Ajv({ allowUnionTypes: true, strictRequired: false, strictTypes: false });
  return ajv.compile(JSON.parse(readFileSync(path, 'utf8')));
}

export const deploySchema = compiled('deploy');

export const configSchema = compiled('config');

/** JSON is YAML: what the run time says about a value, null when it takes it. */
export function refusal(read: (bytes: Buffer) => void, value: unknown): string | null {
  try {
    read(Buffer.from(JSON.stringify(value)));
    return null;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

export const deployRefusal = (value: unknown) =>
  refusal((bytes) => void readDeployFile(bytes), value);

export const configRefusal = (value: unknown) =>
  refusal((bytes) => {
    const file = { name: 'config.yml', code: 'config_invalid' } as const;
    const config = { file, tree: readYaml(bytes, file) };
    codeHostOf(config, {});
    maxDeployRetries(config);
    notifySettingsOf(config, {});
  }, value);

/** Values that are near to what files hold. */
export const scalar = fc.oneof(
  fc.constantFrom(
    '',
    ...'make 30s 5m 200-299 404 a:1 http://a/${PORT} app.service x/../y https://a.example/'.split(
      ' ',
    ),
    ...'process command systemd compose pm2 none telegram both @name 1:ab'.split(' '),
    ...'.env uploads/ ./a a/b .git -x /x a//'.split(' '),
  ),
  fc.constantFrom(0, 1, 5, 200, 599, 600, 1000, 1001, -7, 1.5, true, false, null),
);
