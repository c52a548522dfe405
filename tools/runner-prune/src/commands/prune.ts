import { DISK_PARTS } from '@runner/common/apps/disk';
import { command } from '@runner/common/cli/command';
import { type Style, table } from '@runner/common/cli/output';
import { usage } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { sizeText } from '@runner/common/text/size';
import { type Pruned, type PrunedApp, pruneApps } from '@runner/deploy/prune/prune';

export const prune = command({
  needsRoot: true,
  about: 'Show disk usage, and remove what is no longer needed',
  details:
    'Removes releases that no instance runs or can roll back to, folders of killed builds, all but the\n' +
    'newest 20 deploy logs of each app, unused objects of the mirrors, and leftovers of removed apps.\n' +
    'Never removes shared files. An app whose lock is held is skipped.\n' +
    '\n' +
    'After an incident, --home also removes the HOME of the app: caches that a commit may have changed,\n' +
    'and the configuration that you put there, which you then have to put back.',
  positionals: { app: { about: 'Name of the app [default: all apps]' } },
  options: {
    'dry-run': { about: 'Only show what would be removed' },
    home: { about: "Also remove the app's HOME: caches and configuration of its builds" },
  },
  exits: [[75, 'A deploy or another command of the named app is running']],
  examples: ['runner prune --dry-run', 'runner prune shop', 'runner prune shop --home'],
  async run({ io, paths, args, options, note }) {
    if (options.home && args.app === undefined) throw usage("the argument '--home' needs <APP>");
    const { home } = options;
    const dryRun = options['dry-run'] === true;
    const value = await pruneApps({ io, paths, dryRun, home }, args.app);
    const problems = value.apps.flatMap((each) => each.problems);
    for (const problem of problems) note(problem);
    return { value, status: problems.length > 0 ? 1 : 0 };
  },
  human({ apps, freed, would_free }: Pruned, style, { options, paths }) {
    if (apps.length === 0) return `Nothing to prune: ${harmlessLine(paths.root)} has no apps\n`;
    const lines = apps.flatMap(({ app, skipped, removed }) => [
      ...(skipped === null ? [] : [`skipped ${app}: ${skipped}`]),
      ...(options['dry-run'] ? removed.map((path) => `would remove ${path}`) : []),
    ]);
    const end = options['dry-run']
      ? `Would free ${sizeText(would_free)}`
      : `Freed ${sizeText(freed)}`;
    return `${tableOf(apps, style)}${[...lines.map(harmlessLine), end].join('\n')}\n`;
  },
});

function tableOf(apps: readonly PrunedApp[], style: Style): string {
  const size = (bytes: number | null) => (bytes === null ? '?' : sizeText(bytes));
  const rows = apps.map((each) => [
    each.registered ? each.app : `${each.app} (removed)`,
    ...[...DISK_PARTS, 'total' as const].map((part) => size(each[part])),
  ]);
  return table(['APP', ...DISK_PARTS.map((part) => part.toUpperCase()), 'TOTAL'], rows, style);
}
