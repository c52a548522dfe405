import { dirname, resolve } from 'node:path';
import { command } from '@runner/common/cli/command';
import { isThere, makeFolder } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { invalidValue } from '@runner/common/foundation/failure';
import { loginKeyOf, newLogin } from '@runner/fleet/broker/nats';
import { brokerAddress } from '@runner/fleet/files/broker-address';
import { writeUnlessThere } from '@runner/fleet/files/kept';
import { OPERATOR_NAME } from '@runner/fleet/files/names';
import { operatorFiles } from '@runner/fleet/files/operator';
import { readLogin } from '../rollout/connect.ts';

interface InitResult {
  /** Of fleet.yml. */
  readonly result: 'created' | 'kept';
  readonly config: string;
  /** Public key of the operator's broker login. */
  readonly operator: string;
}

export const init = command({
  name: 'init',
  about: "Create the operator's files: fleet.yml and the key for the broker",
  details: 'Existing files are not changed.',
  options: {
    broker: {
      placeholder: 'URL',
      required: true,
      about: 'Address of the broker: tls://HOST:PORT, or nats://127.0.0.1:PORT',
    },
    ca: { placeholder: 'FILE', about: 'Certificate authority of the broker, PEM' },
    key: {
      placeholder: 'FILE',
      about: 'SSH key that signs orders; its .pub if ssh-agent or a security key holds it',
    },
    by: {
      placeholder: 'NAME',
      about: 'Your name in allowed_signers [default: the user]',
    },
  },
  async run({ io, paths, options, note }) {
    const { broker, ca, key, by } = options;
    brokerAddress(broker, ca);
    if (by !== undefined && !OPERATOR_NAME.test(by))
      throw invalidValue(by, '--by <NAME>', 'letters, digits and . _ @ + -');
    for (const [option, file] of Object.entries({ ca, key }))
      if (file !== undefined && !isThere(resolve(io.cwd, file)))
        throw invalidValue(file, `--${option} <FILE>`, 'there is no such file');
    const files = operatorFiles(paths.root);
    const line = (name: string, value: string | undefined) =>
      value === undefined ? '' : `${name}: ${JSON.stringify(value)}\n`;
    const text = `broker:\n${line('  url', broker)}${line('  ca', ca && resolve(io.cwd, ca))}${line('by', by)}${line('key', key && resolve(io.cwd, key))}`;
    makeFolder(dirname(files.config), 0o750);
    const result = writeUnlessThere(files.config, text, { note, mode: 0o640 });
    if (!isThere(files.login)) writeWhole(files.login, `${newLogin().seed}\n`);
    const operator = loginKeyOf(readLogin(paths.root), files.login);
    return { value: { result, config: files.config, operator } satisfies InitResult };
  },
  human: ({ result, config }: InitResult) =>
    `${result === 'created' ? 'Created' : 'Kept'} ${config}\nNext steps:\n  runner fleet add <server>   reads the output of runner agent init on that server\n  runner fleet broker config\n`,
});
