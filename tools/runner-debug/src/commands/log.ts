import { closeSync } from 'node:fs';
import { command } from '@runner/common/cli/command';
import type { Style } from '@runner/common/cli/output';
import { redactorForAny } from '@runner/common/redaction/redact';
import { harmless, harmlessLine, jsonLine } from '@runner/common/text/harmless';
import { follow, runningDeploy } from '../follow.ts';
import { type KeptLog, openKeptLog } from '../kept-log.ts';
import { causeIn, type LogLine, linesOf, rawTexts } from '../marked-log.ts';
import { showPaged } from '../pager.ts';

export const log = command({
  name: 'log',
  about: 'Show the log of a deploy, and mark the lines that say why it failed',
  details:
    'Without --deploy, shows the newest deploy that failed; if none failed, the newest. Lines that say\n' +
    'why begin with `>`. On a terminal the log opens in $PAGER, or less -R. With --json: an object about\n' +
    'the deploy, then one for each line.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    deploy: {
      placeholder: 'ID',
      about: "The deploy's ID, as in the audit log and in messages, or its beginning",
    },
    follow: {
      short: 'f',
      about: 'Follow the running deploy until it ends, without marks',
    },
    raw: {
      about: 'Show the output with colours and control characters, without marks',
      conflicts: ['follow', 'json', 'output'],
    },
  },
  examples: [
    'runner debug log shop',
    'runner debug log shop --deploy a1b2c3d4',
    "runner debug log shop | grep -n '^>'",
  ],
  safeInForeignRoot: true,
  async run(context) {
    const { io, paths, options, args, format, style, note } = context;
    const running = runningDeploy(paths, args.app);
    const asked = options.deploy ?? (options.follow ? running : undefined);
    const kept = await openKeptLog(paths, args.app, asked);
    try {
      const redact = await redactorForAny({ paths, env: io.env }, kept.app);
      const isRunning = kept.deployId === running;
      const following = options.follow && isRunning;
      const cause = following ? null : causeIn(kept, paths, redact);
      if (format === 'human') note(headline(kept, isRunning));
      else await context.print(aboutOf(kept, cause));
      const show = async (lines: LogLine[]) => {
        if (format === 'human') io.stdout.write(textOf(lines, style));
        else if (format === 'json')
          io.stdout.write(lines.map((line) => `${jsonLine(line)}\n`).join(''));
        else for (const line of lines) await context.print(line);
      };
      if (following) {
        const status = await follow(context, kept, redact, show);
        if (format === 'human' && status === 0) {
          const ended = await openKeptLog(paths, kept.app, kept.deployId);
          closeSync(ended.fd);
          note(headline(ended, false));
        }
        return { status };
      }
      const batches = linesOf(kept, cause, redact);
      if (options.raw) {
        for (const text of rawTexts(kept, redact)) if (!io.stdout.closed) io.stdout.write(text);
        return {};
      }
      if (format === 'human') {
        await showPaged(io, texts(batches, style), note);
        return {};
      }
      for (const batch of batches) {
        await show(batch);
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

function headline(kept: KeptLog, isRunning: boolean): string {
  const { app, deployId, version, event, stage, timestamp, path } = kept;
  const ended =
    event === 'DeployFailure'
      ? `failed${stage === null ? '' : ` at ${stage}`}`
      : event !== null
        ? 'succeeded'
        : isRunning
          ? 'is in progress'
          : 'has no recorded end';
  const when = timestamp === null ? '' : ` ${isRunning ? 'since' : 'at'} ${timestamp}`;
  const what = version === null ? app : `${app} ${version}`;
  const noun = event === 'RollbackSuccess' ? 'rollback' : 'deploy';
  return harmlessLine(`${noun} ${deployId} of ${what} ${ended}${when}: ${path}`);
}

function* texts(batches: Iterable<LogLine[]>, style: Style): Generator<string> {
  for (const batch of batches) if (batch.length > 0) yield textOf(batch, style);
}

function textOf(lines: readonly LogLine[], style: Style): string {
  let text = '';
  for (const { text: line, marked, cut } of lines) {
    const shown = `${harmless(line)}${cut ? ' …' : ''}`;
    text += marked ? `${style.red(`> ${shown}`)}\n` : shown === '' ? '\n' : `  ${shown}\n`;
  }
  return text;
}
