import { ALL } from '@runner/common/app-secrets/file';
import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';
import { listSecrets, type SecretList } from '../listing.ts';

export const list = command({
  name: 'list',
  about: 'List the secrets of an app: names and fingerprints, never a value',
  details:
    'Equal values of one app have equal fingerprints. A value that takes effect with the next start is\n' +
    'marked.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  safeInForeignRoot: true,
  async run(context) {
    return { value: listSecrets(context, context.args.app) };
  },
  human({ app, secrets }: SecretList, style) {
    if (secrets.length === 0) return `${harmlessLine(app)} has no secrets\n`;
    const rows = secrets.map((each) => [
      each.name,
      each.instance === ALL ? '* (all)' : each.instance,
      each.fingerprint,
      each.changed_at.replace(/T(\d\d:\d\d).*/, ' $1'),
      harmlessLine(each.changed_by),
      [each.applied ? '' : 'not applied yet', each.redacted ? '' : 'not redacted']
        .filter(Boolean)
        .join(', '),
    ]);
    const head = ['NAME', 'INSTANCE', 'FINGERPRINT', 'CHANGED (UTC)', 'BY', ''];
    const widths = [0, 1, 2, 3, 4].map((column) =>
      Math.max(...[head, ...rows].map((row) => [...(row[column] ?? '')].length)),
    );
    return [head, ...rows]
      .map((row) => {
        const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
        return `${[style.bold(cells[0] ?? ''), ...cells.slice(1)].join('  ').trimEnd()}\n`;
      })
      .join('');
  },
});
