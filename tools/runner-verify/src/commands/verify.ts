import { requireApp } from '@runner/common/apps/store';
import { type Context, command } from '@runner/common/cli/command';
import { refuseForeignRoot } from '@runner/common/files/foreign-root';
import { EXIT, invalidValue, usage } from '@runner/common/foundation/failure';
import { verifyCommits } from '@runner/deploy/changes/verify';
import { chosenInstances } from '@runner/deploy/lifecycle/chosen';
import { untilInterrupted } from '@runner/deploy/report/interruption';
import { activeStatement, publicKey, verifyActive } from '@runner/deploy/statement/compare';
import { verifyElsewhere } from '../elsewhere.ts';
import { textOf, type VerifyAnswer } from '../text.ts';

const OPTIONS = {
  last: {
    placeholder: 'N',
    about:
      'Show who signed the newest N commits of what the app follows, and which would be refused',
    conflicts: ['statement', 'instance', 'public-key', 'key', 'tree'],
  },
  statement: {
    about: 'Print the signed statement of what runs, for another machine',
    conflicts: ['public-key', 'key', 'tree'],
  },
  instance: { placeholder: 'NAME', about: 'With --statement: what runs in this instance' },
  'public-key': { about: "Print this server's public key", conflicts: ['key', 'tree'] },
  key: { placeholder: 'FILE', about: 'Verify a statement with this public key, without a root' },
  tree: { placeholder: 'DIR', about: 'With --key: compare the statement with this folder' },
} as const;

export const verify = command({
  about: 'Show whether what runs is what was deployed, and who signed it',
  details:
    'Compares the release of each instance with what it was when it was made: files, their modes and links,\n' +
    '.deploy.yml, units, the links to the release, and the file with the secrets. Changes nothing. Exits with 1\n' +
    'if something differs; with --last, if --require-signed strict would refuse a commit.',
  positionals: {
    app: { about: 'Name of the app; with --key the file with a statement, - for standard input' },
  },
  options: OPTIONS,
  exits: [
    [1, 'Something differs, or a commit would be refused'],
    [75, 'Another command is using the app'],
  ],
  examples: [
    'runner verify shop',
    'runner verify shop --last 200',
    'runner verify --public-key',
    'runner verify shop --statement',
    'runner verify shop.json --key server.pub --tree ./copy',
  ],
  safeInForeignRoot: true,
  async run(context) {
    const value = await untilInterrupted(context.io, (signal) => answer(context, signal));
    const isBad = 'refused' in value ? value.refused > 0 : (value as Counted).differing > 0;
    return { value, status: isBad ? EXIT.failed : EXIT.ok };
  },
  human: (value: VerifyAnswer, style, { io }) => textOf(value, style, io),
});

interface Counted {
  readonly differing: number;
}

async function answer(
  { io, paths, args, options, title }: Context<typeof OPTIONS, { app: { about: string } }>,
  signal: AbortSignal,
): Promise<VerifyAnswer> {
  const { key, tree, last } = options;
  if (options['public-key']) return { public_key: publicKey(paths) };
  if (args.app === undefined) throw usage(`'${title}' needs the name of an app`);
  if (key !== undefined) return verifyElsewhere({ io, file: args.app, key, tree, signal });
  if (tree !== undefined) throw usage("'--tree <DIR>' needs '--key <FILE>'");
  const app = requireApp(paths, args.app);
  if (options.statement)
    return activeStatement(paths, app.app, chosenInstances(app, options.instance));
  if (options.instance !== undefined) throw usage("'--instance <NAME>' needs '--statement'");
  if (last === undefined) {
    const instances = await verifyActive({ io, paths, signal }, app);
    const differing = instances.reduce((sum, each) => sum + each.differences.length, 0);
    return { app: app.app, instances, differing };
  }
  // Git writes what it fetches.
  refuseForeignRoot(io, paths, { line: `${title} ${app.app} --last ${lastOf(last)}` });
  return verifyCommits({ io, paths, signal }, app, lastOf(last));
}

const LAST_MAX = 100_000;

function lastOf(text: string): number {
  const last = Number(text);
  if (/^\d{1,6}$/.test(text) && last >= 1 && last <= LAST_MAX) return last;
  throw invalidValue(text.slice(0, 80), '--last <N>', `it must be a number from 1 to ${LAST_MAX}`);
}
