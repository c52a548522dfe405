import { requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { table } from '@runner/common/cli/output';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { counted } from '@runner/common/text/words';
import { diffVersions, type NameChanges, type VersionDiff } from '@runner/deploy/changes/diff';
import { untilInterrupted } from '@runner/deploy/report/interruption';

export const diff = command({
  about: 'Compare two versions of an app',
  details:
    'What differs beside the code: .deploy.yml, packages of lock files, names of secrets whose value changed, and\n' +
    "files of systemd's units, as they were when the versions were deployed; and the commits. Without FROM and\n" +
    'TO: the active version and the one before. FROM and TO are versions, branches, tags or commits.',
  positionals: {
    app: { required: true, about: 'Name of the app' },
    from: { about: 'The earlier version, branch, tag or commit [default: the one before]' },
    to: { about: 'The later version, branch, tag or commit [default: the active one]' },
  },
  exits: [[75, 'Another command is using the app']],
  examples: ['runner diff shop', 'runner diff shop v1.2.0 v1.3.0'],
  async run({ io, paths, args }) {
    const app = requireApp(paths, args.app);
    const value = await untilInterrupted(io, (signal) =>
      diffVersions({ io, paths, signal }, app, args.from, args.to),
    );
    return { value };
  },
  human(found: VersionDiff, style) {
    const { app, from, to, commits, count, deploy_file: file } = found;
    const [first, last] = [from, to].map(({ version }) => harmlessLine(version));
    const back = found.taken_back ? [`${counted(found.taken_back, 'commit')} taken back`] : [];
    const brought = count === 0 && found.taken_back ? [] : [counted(count, 'commit')];
    const rows = commits.map((each) => [each.commit.slice(0, 12), each.author, each.subject]);
    const heading = ['COMMIT', 'AUTHOR', 'SUBJECT'];
    return [
      `${style.bold(harmlessLine(app))}: ${first} to ${last}, ${[...brought, ...back].join(', ')}\n`,
      rows.length > 0 ? table(heading, rows, style) : '',
      file === '' ? '.deploy.yml: the same\n' : harmless(file),
      linesOf('packages', found.packages),
      linesOf('secrets', found.secrets),
      linesOf('units', found.units),
    ].join('');
  },
});

function linesOf(what: string, changes: NameChanges | null): string {
  if (!changes) return `${what}: not known, a version is not kept\n`;
  const rows = Object.entries(changes).flatMap(([how, names]: [string, string[]]) =>
    names.length > 0 ? [`${what} ${how}: ${names.map(harmlessLine).join(', ')}\n`] : [],
  );
  return rows.length > 0 ? rows.join('') : `${what}: the same\n`;
}
