import { command } from '@runner/common/cli/command';
import { readGiven } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import { appName } from '@runner/common/foundation/names';
import { harmless } from '@runner/common/text/harmless';
import { type ImportAnswer, importText } from '../answer/answer.ts';
import { FORMATS, type FormatName } from '../formats/all.ts';
import { zoneHere } from '../formats/times.ts';

/** Bytes; far above any file that a person wrote. */
const SOURCE_MAX = 65_536;

export const importFile = command({
  about: 'Make a .deploy.yml from a file of another tool',
  details:
    'Prints the file on standard output. Each key without a place in it is listed on standard error with\n' +
    'its line and the reason, followed by the commands to run and other files that are needed. The lines\n' +
    "of a crontab and the jobs of whenever become jobs, in this machine's time zone if the file names none.\n" +
    'Nothing is run or changed, and no value that looks like a secret is printed.',
  positionals: {
    format: { required: true, choices: Object.keys(FORMATS), about: 'What the file is' },
    file: { required: true, about: 'The file; - reads standard input' },
  },
  options: {
    app: {
      placeholder: 'APP',
      about: 'Name of the app in the commands [default: as in the file]',
    },
  },
  examples: [
    'runner import pm2 ecosystem.config.js > .deploy.yml',
    'runner import kamal config/deploy.yml --app shop --json',
    'crontab -l | runner import crontab - --app shop',
    'runner import whenever config/schedule.rb',
  ],
  safeInForeignRoot: true,
  async run({ io, paths, args, options, format }) {
    const { app } = options;
    const answer = await importText({
      format: args.format as FormatName,
      text: readGiven(io, args.file, SOURCE_MAX, 'the input'),
      file: args.file,
      app: app === undefined ? undefined : appName(app),
      root: paths.root,
      zone: zoneHere(),
    });
    if (format === 'human')
      for (const line of report(answer)) io.stderr.write(`${harmless(line)}\n`);
    const { mapped, deploy_file: file, commands, files } = answer;
    const isMade = file !== null || commands.length > 0 || files.length > 0;
    if (mapped.length === 0 || !isMade)
      throw new Failure('not_imported', `${answer.file}: nothing in it has a place in runner`, {
        left: answer.left,
      });
    return { value: answer };
  },
  human: ({ deploy_file: text }: ImportAnswer) => text ?? '',
});

/** What is left and what to know, then what to run, then the other files. */
function report({ file, left, notes, commands, files }: ImportAnswer): string[] {
  // Of a list one line is enough.
  const reasons = left.map(
    ({ key, line, reason }) => `${file}:${line}: ${key.replace(/\[\d+\]$/, '')}: ${reason}`,
  );
  return [
    ...new Set(reasons),
    ...notes.map((note) => `runner import: ${note}`),
    ...commands.map((line) => `runner import: run: ${line}`),
    ...files.flatMap(({ path, text }) => [
      `runner import: write this into ${path}:`,
      text.trimEnd(),
    ]),
  ];
}
