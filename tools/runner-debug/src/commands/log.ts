import { closeSync } from 'node:fs';
import { command } from '@runner/common/cli/command';
import type { Style } from '@runner/common/cli/output';
import { harmless, harmlessLine, jsonLine } from '@runner/common/text/harmless';
import type { KeptLog } from '../kept-log.ts';
import type { LogLine } from '../marked-log.ts';

export const log = command({
  name: 'log',
  about: 'Show the kept log of a deploy, with the lines marked that say why it failed',
  details:
    'Without --deploy it is the newest deploy that failed, as for last-error; of an app that never\n' +
    'failed, the newest. Lines that say why begin with `>`. On a terminal the log is shown by $PAGER,\n' +
    'else by less -R. With --json: an object about the deploy, then one for each line.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    deploy: {
      kind: 'value',
      placeholder: 'ID',
      about: "The deploy's id, as in the audit log and in messages",
    },
  },
  examples: [
    'runner debug log shop',
    'runner debug log shop --deploy a1b2c3d4',
    "runner debug log shop | grep -n '^>'",
  ],
  async run(context) {
    const { io, paths, options, args, format } = context;
    // A log of any size is read in passing: a small young generation keeps the process small too.
    const { setFlagsFromString } = process.getBuiltinModule('node:v8');
    setFlagsFromString('--max-semi-space-size=1');
    setFlagsFromString('--semi-space-growth-factor=1');
    const { openKeptLog } = await import('../kept-log.ts');
    const kept = await openKeptLog(paths, args.app, options.deploy);
    try {
      const { causeIn, linesOf } = await import('../marked-log.ts');
      const { redactorForAny } = await import('@runner/common/redaction/redact');
      const redact = await redactorForAny({ paths, env: io.env }, kept.app);
      const cause = causeIn(kept, paths, redact);
      const batches = linesOf(kept, cause, redact);
      if (format === 'human') {
        context.note(headline(kept));
        const { showPaged } = await import('../pager.ts');
        await showPaged(io, texts(batches, context.style), context.note);
        return {};
      }
      await context.print(aboutOf(kept, cause));
      for (const batch of batches) {
        if (format === 'json') io.stdout.write(batch.map((line) => `${jsonLine(line)}\n`).join(''));
        else for (const line of batch) await context.print(line);
        if (io.stdout.closed) break;
      }
      return {};
    } finally {
      closeSync(kept.fd);
    }
  },
});

/** The first object of `--json`. */
function aboutOf(kept: KeptLog, cause: { text: string; lines: number[] } | null): object {
  const { app, deployId, path, event, version, timestamp, stage } = kept;
  return { app, deploy_id: deployId, path, event, version, timestamp, stage, cause };
}

function headline({ app, deployId, version, event, stage, timestamp, path }: KeptLog): string {
  const ended =
    event === 'DeployFailure'
      ? `failed${stage === null ? '' : ` at ${stage}`}`
      : event === 'DeploySuccess'
        ? 'succeeded'
        : 'has no end on record';
  const when = timestamp === null ? '' : ` at ${timestamp}`;
  const what = version === null ? app : `${app} ${version}`;
  return harmlessLine(`deploy ${deployId} of ${what} ${ended}${when}: ${path}`);
}

function* texts(batches: Iterable<LogLine[]>, style: Style): Generator<string> {
  for (const batch of batches) {
    let piece = '';
    for (const { text, marked, cut } of batch) {
      const shown = `${harmless(text)}${cut ? ' …' : ''}`;
      piece += marked ? `${style.red(`> ${shown}`)}\n` : shown === '' ? '\n' : `  ${shown}\n`;
    }
    if (piece !== '') yield piece;
  }
}
