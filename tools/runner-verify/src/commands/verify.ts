import { signerWords } from '@runner/common/apps/signed';
import { requireApp } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { table } from '@runner/common/cli/output';
import { EXIT, invalidValue } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Verification } from '@runner/deploy/changes/verify';
import { verifyCommits } from '@runner/deploy/changes/verify';
import { untilInterrupted } from '@runner/deploy/report/interruption';

export const verify = command({
  about: 'Show who signed the commits of an app, and which would be refused',
  details:
    'Without --last: the commit that runs. The keys are those of /etc/runner/commit_signers; what a commit\n' +
    'says of its signer does not count. Exits with 1 if --require-signed strict would refuse one of them.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    last: {
      placeholder: 'N',
      about: 'The newest N commits of what the app follows, with those of merged branches',
    },
  },
  exits: [
    [1, 'A commit would be refused'],
    [75, 'Another command is using the app'],
  ],
  examples: ['runner verify shop', 'runner verify shop --last 200'],
  async run({ io, paths, args, options }) {
    const app = requireApp(paths, args.app);
    const last = lastOf(options.last);
    const value = await untilInterrupted(io, (signal) =>
      verifyCommits({ io, paths, signal }, app, last),
    );
    return { value, status: value.refused > 0 ? EXIT.failed : EXIT.ok };
  },
  human({ app, commits, refused }: Verification, style, { io }) {
    const width = io.stdout.isTTY ? io.stdout.columns : undefined;
    const rows = commits.map(({ commit, date, subject, signed_by: signer, refused: why }) =>
      [
        commit.slice(0, 12),
        date.slice(0, 10),
        signer ? signerWords(signer) : `refused: it ${why}`,
        subject,
      ].map(harmlessLine),
    );
    const all = commits.length === 1 ? '1 commit' : `${commits.length} commits`;
    const end = refused === 0 ? style.green('none is refused') : style.red(`${refused} refused`);
    const name = style.bold(harmlessLine(app));
    return `${table(HEADING, rows, style, width)}${name}: ${all}, ${end}\n`;
  },
});

const HEADING = ['COMMIT', 'DATE (UTC)', 'SIGNED BY', 'SUBJECT'];
const LAST_MAX = 100_000;

function lastOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const last = Number(text);
  if (/^\d{1,6}$/.test(text) && last >= 1 && last <= LAST_MAX) return last;
  throw invalidValue(text.slice(0, 80), '--last <N>', `it must be a number from 1 to ${LAST_MAX}`);
}
