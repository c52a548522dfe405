import { dirname } from 'node:path';
import { type BackedUp, backUp } from '@runner/backup/backup';
import { sealingKey } from '@runner/backup/key';
import { command } from '@runner/common/cli/command';
import { makeFolder, namesIn } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { failureIn } from '@runner/common/foundation/attempt';
import { usage } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { word } from '@runner/common/text/shell';

export const backup = command({
  about: 'Write an encrypted backup of everything that is not in git',
  details:
    'One file with configuration, keys, apps, secrets, the audit log and the units of the apps. runner\n' +
    'restore and age can decrypt it. It does not contain the backups of databases, which are in\n' +
    'apps/<app>/database. Without --recipient and --passphrase-file it prompts for a passphrase.',
  options: {
    to: {
      placeholder: 'FILE',
      required: true,
      about: 'The file to write; - writes to standard output',
    },
    recipient: {
      placeholder: 'KEY',
      conflicts: ['passphrase-file'],
      about: 'age public key (age1…), or several, separated by commas',
    },
    'passphrase-file': {
      placeholder: 'FILE',
      about: 'Read the passphrase from a file; - reads standard input',
    },
    'with-shared': { about: "Include the instances' shared folders" },
  },
  examples: [
    'runner backup --to shop-server.age --recipient age1…',
    'runner backup --to - --passphrase-file ~/passphrase | ssh nas cat \\> runner.age',
  ],
  async run({ io, paths, options, note }) {
    const { to, recipient } = options;
    if (to === '-' && io.stdout.isTTY)
      throw usage('a backup is not shown on a terminal: use a file or a pipe');
    const key = sealingKey(io, recipient, options['passphrase-file']);
    const withShared = options['with-shared'] === true;
    const done = await backUp({ io, paths, to, key, withShared, note });
    const left = done.apps.filter((app) =>
      namesIn(paths.app(app).databaseBackups).some((name) => name.endsWith('.age')),
    );
    if (left.length > 0)
      note(
        `the backups of the database of ${left.join(', ')} are not in it: copy ${left.map((app) => word(paths.app(app).databaseBackups)).join(' ')}`,
      );
    const at = `${io.now().toISOString()}\n`;
    const failure = failureIn(() => {
      makeFolder(dirname(paths.lastBackup));
      writeWhole(paths.lastBackup, at, 0o640);
    });
    if (failure) note(`${failure.message}: runner status does not know of this backup`);
    return to === '-' ? {} : { value: done };
  },
  human({ to, apps, files, bytes }: BackedUp, style) {
    const size = `${Math.ceil(bytes / 1024)} KiB`;
    return `Backed up ${apps.length} app(s), ${files} files to ${style.bold(harmlessLine(to))} (${size})\n`;
  },
});
