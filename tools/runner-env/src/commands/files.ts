import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';
import { type WrittenFiles, writeBootFiles } from '@runner/deploy/instances/boot-files';

export const files = command({
  name: 'files',
  about: 'Write the secrets of units and containers to files in memory',
  details:
    'Each start writes the file of its instance. After a reboot runner-env.service calls this command\n' +
    'before any app starts. Use the printed path in EnvironmentFile= of a unit.',
  async run(context) {
    const value = writeBootFiles(context);
    return { value, status: value.failed.length > 0 ? 1 : 0 };
  },
  human: ({ files: written }: WrittenFiles) =>
    written.map(({ path }) => `${harmlessLine(path)}\n`).join(''),
});
