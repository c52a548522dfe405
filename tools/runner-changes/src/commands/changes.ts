import { migrationLines } from '@runner/common/apps/schema-way';
import { requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { type Style, table } from '@runner/common/cli/output';
import { harmlessLine } from '@runner/common/text/harmless';
import { type ChangeList, listChanges } from '@runner/deploy/changes/list';
import { untilInterrupted } from '@runner/deploy/report/interruption';

export const changes = command({
  about: 'List the commits the next deploy would ship',
  details:
    'Without FROM: the commits the next deploy would ship; if there are none, those of the last deploy.\n' +
    'FROM and TO are versions, branches, tags or commits; TO defaults to the newest commit that the app\n' +
    'follows. Newest first, at most 1000. Hosts that .deploy.yml adds to a list are named, and packages of the\n' +
    'lock file that now run an install script and ran none. Of migrations among the commits it says whether FROM works\n' +
    'with the database as it is now.',
  positionals: {
    app: { required: true, about: 'Name of the app' },
    from: { about: 'Version, branch, tag or commit; its own changes are not listed' },
    to: { about: 'Version, branch, tag or commit; its changes are listed' },
  },
  exits: [[75, 'Another command is using the app']],
  examples: ['runner changes shop', 'runner changes shop v1.2.0 v1.3.0'],
  async run({ io, paths, args }) {
    const app = requireApp(paths, args.app);
    const value = await untilInterrupted(io, (signal) =>
      listChanges({ io, paths, signal }, app, args.from, args.to),
    );
    return { value };
  },
  human(list: ChangeList, style, { io }) {
    const { commits, count, compare } = list;
    const more = count > commits.length ? `… and ${count - commits.length} more\n` : '';
    const isJudged = commits.some(({ refused }) => refused !== undefined);
    const rows = commits.map(({ commit, date, author, subject, signed_by: signer }) => {
      const signed = isJudged ? [signer?.principal ?? '-'] : [];
      return [commit.slice(0, 12), date.slice(0, 10), author, ...signed, subject];
    });
    const signed = isJudged ? ['SIGNED BY'] : [];
    const heading = ['COMMIT', 'DATE (UTC)', 'AUTHOR', ...signed, 'SUBJECT'];
    const shown = rows.length > 0 ? table(heading, rows, style, io) : '';
    const link = compare === null ? '' : `${compare}\n`;
    return `${headline(list, style)}\n${shown}${more}${link}${moreText(list)}`;
  },
});

function moreText(list: ChangeList): string {
  const { network_added, migrations, way_back: way } = list;
  const added =
    network_added.length > 0 ? [`network: may now reach ${network_added.join(', ')}`] : [];
  const scripts = list.new_install_scripts.map(
    (name) => `install script: ${name} runs one, and ran none`,
  );
  const migrated = migrations.map((each) => `database: ${migrationLines(each).join('; ')}`);
  const lines = [...added, ...scripts, ...migrated];
  if (way) {
    const fix = way.fix && way.open !== true ? `; ${way.fix.does}: ${way.fix.command}` : '';
    lines.push(`way back: ${way.reason}${fix}`);
  }
  return lines.map((line) => `${harmlessLine(line)}\n`).join('');
}

function headline({ app, what, from, to, count }: ChangeList, style: Style): string {
  const name = style.bold(harmlessLine(app));
  const [first, last] = [from.version, to.version].map(harmlessLine);
  if (what === 'last' && from.commit === to.commit)
    return `${name}: nothing is new, and no version before ${last} is kept`;
  const commits = count === 1 ? '1 commit' : `${count} commits`;
  if (what === 'next') return `${name}: a deploy would bring ${commits}, ${first} to ${last}`;
  if (what === 'last') return `${name}: the last deploy brought ${commits}, ${first} to ${last}`;
  return `${name}: ${commits}, ${first} to ${last}`;
}
