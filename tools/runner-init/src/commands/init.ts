import { posix } from 'node:path';
import { type CommandResult, type Context, command } from '@runner/common/cli/command';
import { DEPLOY_FILE } from '@runner/common/deploy-file/read';
import { difference } from '@runner/common/files/difference';
import { isThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { ask, canAsk } from '@runner/common/tokens/prompt';
import { type Proof, prove } from '@runner/deploy/proof/prove';
import { makeScratch, type ScratchRoot } from '@runner/deploy/proof/scratch';
import { untilInterrupted } from '@runner/deploy/report/interruption';
import { progressFor } from '@runner/deploy/report/progress';
import { withoutSteps } from '@runner/deploy/report/reporter';
import { lookAt } from '../look/checkout.ts';
import { type Analysis, analyse } from '../stacks/analyse.ts';
import type { Proposal } from '../stacks/propose.ts';
import { answerOf, type InitAnswer, unknownAnswer } from './answer.ts';
import { checkoutAt, headOf, nameFor, type Workplace } from './checkout.ts';
import { fileText, foundLines, proofWords, settledSettings, withPort } from './text.ts';

export const init = command({
  about: 'Write a .deploy.yml for a repository, and prove it',
  details:
    'Looks at the files, builds them in the sandbox as a deploy does, starts the app on a free port, asks\n' +
    'it for a health path, stops it, and shows the file. On a terminal it asks before it writes; otherwise\n' +
    'the file goes to stdout, or with --yes to .deploy.yml. It adds no migration, but names the command\n' +
    'for it; a script of yours that migrates does run in the proof.',
  positionals: { folder: { about: 'The checkout, or an app in it [default: the current one]' } },
  options: {
    app: {
      placeholder: 'APP',
      about: "The branch of a registered app; the file is kept as the operator's",
    },
    dir: { placeholder: 'DIR', about: 'Folder of the app in a repository with several' },
    'no-prove': { about: 'Only look at the files; the file is marked as not proven' },
    force: { about: 'Replace a .deploy.yml that is there' },
    yes: { short: 'y', about: 'Write the file without asking' },
    verbose: { short: 'v', about: 'Show the output of the steps as it arrives' },
  },
  exits: [[130, 'Interrupted (Ctrl-C); nothing was written, and nothing is left running']],
  examples: ['runner init', 'runner init --no-prove --yes', 'runner init --app shop'],
  run: runInit,
  human({ written, file, proof, output }: InitAnswer, style, { io, options }) {
    // On a terminal it has been shown.
    if (written === null || !proof) return io.stdout.isTTY && canAsk(io) && proof ? '' : file;
    if (proof.result === 'failed')
      return `Wrote ${style.bold(written)}. Not proven.\nNext: fix the cause, or edit the file, before it is used\n`;
    const words = proofWords(proof, { output });
    const next =
      options.app === undefined
        ? `Next: git add ${DEPLOY_FILE}, commit and push it, then runner add <owner/name>\n`
        : '';
    return `${style.green('Wrote')} ${style.bold(written)}. ${words}.\n${next}`;
  },
});

type InitContext = Pick<Context, 'io' | 'paths' | 'format' | 'note' | 'errStyle'> & {
  readonly args: { readonly folder: string | undefined };
  readonly options: {
    readonly app: string | undefined;
    readonly dir: string | undefined;
    readonly 'no-prove': boolean;
    readonly force: boolean;
    readonly yes: boolean;
    readonly verbose: boolean;
  };
};

async function runInit(context: InitContext): Promise<CommandResult> {
  const { io, options, args } = context;
  const isProven = !options['no-prove'];
  if (options.app === undefined) {
    const place = checkoutAt(io, args.folder);
    const scratch = isProven ? makeScratch(context, nameFor(place)) : undefined;
    return proposed(context, place, nameFor(place), scratch);
  }
  if (args.folder !== undefined)
    throw new Failure('usage', 'the argument [FOLDER] cannot be used with --app <APP>');
  const name = options.app;
  const { root } = context.paths;
  const scratch = makeScratch(context, name, isThere(root) ? root : undefined);
  try {
    const place = await untilInterrupted(io, (signal) => headOf(context, name, scratch, signal));
    return await proposed(context, place, name, scratch);
  } finally {
    scratch.remove();
  }
}

async function proposed(
  context: InitContext,
  place: Workplace,
  app: string,
  scratch: ScratchRoot | undefined,
): Promise<CommandResult> {
  const { io, options, format, note } = context;
  const why = `not tried, ${options['no-prove'] ? 'because of --no-prove' : 'without --force'}`;
  let proof: Proof = { result: 'planned', why };
  let proposal: Proposal;
  try {
    const analysis = chosen(
      context,
      place,
      analyse(lookAt(place.top), folderOf(options.dir) ?? place.dir),
    );
    if ('missing' in analysis) return unknown(context, analysis);
    proposal = analysis.proposal;
    if (format === 'human') io.stderr.write(foundLines(proposal));
    if (place.existing !== undefined && !options.force) refuse(context, place, proposal, proof);
    if (scratch && !options['no-prove'])
      proof = await tried(context, place, { app, proposal, scratch });
  } finally {
    scratch?.remove();
  }
  const settings = settledSettings(proposal, proof);
  const file = fileText(settings, proposal, proofWords(proof, proposal));
  if (proof.result === 'failed') for (const line of proof.cause) note(line);
  // What was not tried is said on stdout.
  const isSaid = options.yes && format === 'human' && proof.result === 'planned';
  if (proof.result !== 'proven' && !isSaid) note(proofWords(proof, proposal));
  const isWritten = decided(context, place, file, proof);
  if (isWritten) place.write(file);
  return {
    value: answerOf(proposal, settings, { proof, file, written: isWritten ? place.target : null }),
    status: proof.result === 'failed' ? 1 : 0,
  };
}

/** `./apps/web/` is `apps/web`. */
function folderOf(given: string | undefined): string | undefined {
  return given && (posix.normalize(given).replace(/\/+$/, '').replace(/^\.$/, '') || undefined);
}

/** Of several apps, the one that is chosen on the terminal. */
function chosen({ io, options }: InitContext, { top }: Workplace, analysis: Analysis): Analysis {
  if (!('missing' in analysis) || analysis.apps.length === 0 || !canAsk(io) || options.yes)
    return analysis;
  const { apps } = analysis;
  for (const [at, dir] of apps.entries()) io.stderr.write(`  ${at + 1}  ${harmlessLine(dir)}\n`);
  const given = ask(io, 'Which app?').trim();
  const dir = apps[Number(given) - 1] ?? apps.find((each) => each === given);
  return dir === undefined ? analysis : analyse(lookAt(top), dir);
}

/** Says what is missing, and offers a file to fill in. */
function unknown(
  { note }: InitContext,
  { missing, apps }: Extract<Analysis, { missing: string }>,
): CommandResult {
  note(harmlessLine(missing));
  for (const dir of apps) note(`--dir ${harmlessLine(dir)}`);
  return { value: unknownAnswer(missing, apps), status: 1 };
}

function refuse(
  { io, options }: InitContext,
  { existing = '', target, found, dir = options.dir }: Workplace,
  proposal: Proposal,
  proof: Proof,
): never {
  const text = fileText(proposal.settings, proposal, proofWords(proof, proposal));
  io.stderr.write(
    harmless(difference(io.env, [`${found} (now)`, `${target} (init)`], existing, text)),
  );
  // A repository has one: that of another app of it is kept on the server.
  const other =
    dir !== undefined && options.app === undefined
      ? `; if it is of another app: runner init --app <APP> --dir ${harmlessLine(dir)}, on the server`
      : '';
  throw new Failure('force_needed', `${found} is there already: --force replaces it${other}`);
}

function tried(
  context: InitContext,
  place: Workplace,
  { app, proposal, scratch }: { app: string; proposal: Proposal; scratch: ScratchRoot },
): Promise<Proof> {
  const { io, paths, options } = context;
  const progress = progressFor({ ...context, options: { events: false } }, options.verbose);
  return untilInterrupted(io, async (signal) => {
    try {
      return await prove({
        io,
        paths,
        app,
        scratch,
        signal,
        reporter: context.format === 'human' ? progress.reporter : withoutSteps(progress.reporter),
        redact: place.redact,
        asks: proposal.paths,
        output: proposal.output,
        fileFor: (port) => fileText(withPort(proposal.settings, port), proposal, 'On trial'),
        fill: (folder) => place.fill(folder, signal),
        sharedFile: place.sharedFile,
      });
    } finally {
      progress.end();
    }
  });
}

/** Whether the file is to be written: asks on a terminal. */
function decided(
  { io, options, note, format }: InitContext,
  { target, existing }: Workplace,
  file: string,
  { result }: Proof,
): boolean {
  if (options.yes) return true;
  if (!canAsk(io) || format !== 'human') {
    note(`${DEPLOY_FILE} was not written: add --yes`);
    return false;
  }
  io.stderr.write(`\n${harmless(file)}\n`);
  const isGood = result !== 'failed';
  const verb = existing === undefined ? 'Write' : 'Replace';
  const given = ask(io, `${verb} ${target}? ${isGood ? '[Y/n]' : '[y/N]'}`)
    .trim()
    .toLowerCase();
  return given === '' ? isGood : given === 'y' || given === 'yes';
}
