import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';
import type { WrittenFiles } from '@runner/deploy/instances/boot-files';

export const files = command({
  name: 'files',
  about: 'Write the files in memory from which units and containers get their secrets',
  details:
    'A start writes the file of its instance. After a reboot the files are gone: the service\n' +
    'runner-env.service of the package calls this before any app is started. The path is the one for\n' +
    'EnvironmentFile= of a unit.',
  async run(context) {
    const { writeBootFiles } = await import('@runner/deploy/deploy');
    const value = writeBootFiles(context);
    return { value, status: value.failed.length > 0 ? 1 : 0 };
  },
  human: ({ files: written }: WrittenFiles) =>
    written.map(({ path }) => `${harmlessLine(path)}\n`).join(''),
});
