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
    'Without --deploy, shows the newest deploy that failed, as last-error does; if the app never failed,\n' +
    'its newest deploy. Lines that say why begin with `>`. On a terminal the log is shown in $PAGER,\n' +
    'or else in less -R. With --json: an object about the deploy, then one for each line.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    deploy: {
      kind: 'value',
      placeholder: 'ID',
      about: "The deploy's ID, as in the audit log and in messages, or its beginning",
    },
  },
  examples: [
    'runner debug log shop',
    'runner debug log shop --deploy a1b2c3d4',
    "runner debug log shop | grep -n '^>'",
  ],
  async run(context) {
    const { io, paths, options, args, format } = context;
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
