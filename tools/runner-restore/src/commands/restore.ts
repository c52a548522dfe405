import { openingKey } from '@runner/backup/key';
import type { RanInstance, RestoreResult } from '@runner/backup/restore';
import { command } from '@runner/common/cli/command';
import { refuseTwoReaders } from '@runner/common/files/read';
import { harmlessLine } from '@runner/common/text/harmless';
import { word } from '@runner/common/text/shell';

export const restore = command({
  about: 'Restore a backup into an empty root',
  details:
    'The root must be empty or freshly installed. The whole backup is checked before anything is written.\n' +
    'The first fetch --deploy then deploys what each app ran, and keeps holds and blocks. Without\n' +
    '--identity and --passphrase-file it prompts for a passphrase.',
  positionals: {
    file: { required: true, about: 'The backup; - reads standard input' },
  },
  options: {
    identity: {
      placeholder: 'FILE',
      conflicts: ['passphrase-file'],
      about: 'File with the age secret key (AGE-SECRET-KEY-1…); - reads standard input',
    },
    'passphrase-file': {
      placeholder: 'FILE',
      about: 'Read the passphrase from a file; - reads standard input',
    },
  },
  examples: ['runner restore shop-server.age --identity ~/key.txt'],
  safeInForeignRoot: true,
  async run({ io, paths, args, options }) {
    const { identity, 'passphrase-file': passphrase } = options;
    refuseTwoReaders({
      restore: args.file,
      '--identity': identity,
      '--passphrase-file': passphrase,
    });
    const work = await import('@runner/backup/restore');
    work.requireReadable(io, args.file);
    const key = openingKey(io, identity, passphrase);
    const keys = Object.entries({ identity, 'passphrase-file': passphrase }).flatMap(
      ([name, value]) => (value === undefined ? [] : [`--${name} ${word(value)}`]),
    );
    const line = ['runner restore', word(args.file), ...keys].join(' ');
    return { value: await work.restore(io, paths, { file: args.file, line }, key) };
  },
  human({ apps, ran, unreadable, links, unset, units, ...rest }: RestoreResult, style) {
    const names = apps.map((app) => harmlessLine(labelOf(app, ran))).join(', ') || 'none';
    return [
      `Restored ${style.bold(harmlessLine(rest.root))} from the backup of ${harmlessLine(rest.created)}: ${rest.files} files`,
      `Apps: ${names}`,
      ...unreadable.map((problem) => `Not usable yet: ${harmlessLine(problem)}`),
      ...links.map((link) => `Not restored: the link ${harmlessLine(link)}`),
      ...(unset.length === 0 ? [] : [harmlessLine(`Not set on shared files: ${unset.join(', ')}`)]),
      ...(units === null ? [] : [`Units to copy to /etc: ${harmlessLine(units)}`]),
      'Next: runner doctor, then runner fetch --deploy',
      '',
    ].join('\n');
  },
});

/** `shop v1`, `shop v1 (stopped)`, `shop (web v1, worker v2)`; the name alone if nothing ran. */
function labelOf(app: string, all: readonly RanInstance[]): string {
  const ran = all.filter((each) => each.app === app);
  const shown = ({ version, stopped }: RanInstance) => `${version}${stopped ? ' (stopped)' : ''}`;
  const words = [...new Set(ran.map(shown))];
  if (words.length < 2) return [app, ...words].join(' ');
  return `${app} (${ran.map((each) => `${each.instance} ${shown(each)}`).join(', ')})`;
}
