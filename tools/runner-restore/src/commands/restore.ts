import type { Restored } from '@runner/backup/restore';
import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';

export const restore = command({
  name: '',
  about: 'Restore a backup into an empty root',
  details:
    'The root must be empty or freshly installed. The whole backup is checked before anything is written.\n' +
    'fetch --deploy then builds the releases again. Without --identity and --passphrase-file it prompts\n' +
    'for a passphrase.',
  positionals: {
    file: { required: true, about: 'The backup; - reads standard input' },
  },
  options: {
    identity: {
      kind: 'value',
      placeholder: 'FILE',
      conflicts: ['passphrase-file'],
      about: 'File with the age secret key (AGE-SECRET-KEY-1…)',
    },
    'passphrase-file': {
      kind: 'value',
      placeholder: 'FILE',
      about: 'Read the passphrase from a file; - reads standard input',
    },
  },
  examples: ['runner restore shop-server.age --identity ~/key.txt'],
  async run({ io, paths, args, options }) {
    const [work, { openingKey }] = await Promise.all([
      import('@runner/backup/restore'),
      import('@runner/backup/key'),
    ]);
    work.requireReadable(io, args.file);
    const key = openingKey(io, options.identity, options['passphrase-file']);
    return { value: await work.restore(io, paths, args.file, key) };
  },
  human({ root, created, apps, files, units }: Restored, style) {
    const names = apps.map(harmlessLine).join(', ') || 'none';
    return [
      `Restored ${style.bold(harmlessLine(root))} from the backup of ${created}: ${files} files`,
      `Apps: ${names}`,
      ...(units === null ? [] : [`Units to copy to /etc: ${harmlessLine(units)}`]),
      'Next: runner doctor, then runner fetch --deploy',
      '',
    ].join('\n');
  },
});
