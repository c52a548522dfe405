import { dirname, resolve } from 'node:path';
import { command } from '@runner/common/cli/command';
import { isThere, makeFolder } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { usage } from '@runner/common/foundation/failure';
import { newLogin } from '@runner/fleet/broker/nats';
import { agentFiles } from '@runner/fleet/files/agent';
import { brokerAddress } from '@runner/fleet/files/broker-address';
import { writeUnlessThere } from '@runner/fleet/files/kept';
import { serverName } from '@runner/fleet/files/names';
import { newSignKey } from '@runner/fleet/order/seal';
import { type AgentKeys, keysOf } from './keys.ts';

export const init = command({
  name: 'init',
  about: "Create the agent's files: agent.yml and two keys",
  details: 'Existing files are not changed. Prints the public keys, like runner agent keys.',
  positionals: { server: { required: true, about: 'Name of this server in the fleet' } },
  options: {
    broker: { placeholder: 'URL', about: 'Address of the broker, tls://HOST:PORT' },
    ca: { placeholder: 'FILE', about: 'Certificate authority of the broker, PEM' },
    signers: {
      placeholder: 'FILE',
      about: 'Public keys that may sign orders [default: /etc/runner/allowed_signers]',
    },
  },
  async run({ io, paths, args, options, note }) {
    const files = agentFiles(paths.root);
    const { broker, ca, signers } = options;
    if (broker !== undefined) brokerAddress(broker, ca);
    else if (ca !== undefined) throw usage('--ca is of a broker: add --broker <URL>');
    const lines = [
      `server: ${JSON.stringify(serverName(args.server))}`,
      ...(broker === undefined ? [] : ['broker:', `  url: ${JSON.stringify(broker)}`]),
      ...(ca === undefined ? [] : [`  ca: ${JSON.stringify(resolve(io.cwd, ca))}`]),
      ...(signers === undefined
        ? []
        : [`allowed_signers: ${JSON.stringify(resolve(io.cwd, signers))}`]),
    ];
    makeFolder(dirname(files.config), 0o700);
    const write = (path: string, text: () => string) => {
      if (!isThere(path)) writeWhole(path, text());
    };
    writeUnlessThere(files.config, `${lines.join('\n')}\n`, { note });
    write(files.login, () => `${newLogin().seed}\n`);
    write(files.signKey, newSignKey);
    return { value: await keysOf(paths) };
  },
  human: (keys: AgentKeys) => `${JSON.stringify(keys)}\n`,
});
