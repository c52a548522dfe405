/** Text output of `runner notify status` and `test`: one line per channel, with details below. */

import type { Style } from '@runner/common/cli/output';
import { isTelemetry } from '@runner/common/config/telemetry-schema';
import { harmlessLine } from '@runner/common/text/harmless';
import { durationText } from '@runner/common/text/time';
import { CHANNELS } from '../channels/index.ts';
import { TELEMETRY } from '../channels/telemetry/telemetry.ts';
import type { StatusRow } from '../service/contract.ts';
import { fieldsOf, wordOf } from '../service/fields.ts';
import { problemText } from '../service/problem-text.ts';
import type { Backlog, ChannelStatus, NotifyStatus, RecordingStatus } from './status.ts';
import type { TrialResult } from './trial.ts';

/** Width of the labels of details. */
const LABEL = 10;

/** The whole report. */
export function statusText(report: NotifyStatus, style: Style): string {
  const rows: StatusRow[] = [
    ['config', report.config],
    [
      'templates',
      report.templates.length > 0 ? report.templates.join(', ') : 'none: the built-in texts',
    ],
    ['errors', `verbose_errors ${report.verbose_errors ? 'on' : 'off'}`],
    ['retries', `max_deploy_retries ${report.max_deploy_retries}`],
  ];
  const unused = report.channels.filter(isUnused);
  const blocks = report.channels
    .filter((each) => !isUnused(each))
    .map((each) => channelText(each, style));
  const names = unused.map(({ channel }) => CHANNELS[channel].title).join(', ');
  const others = names === '' ? [] : [`${style.dim('–')} not configured: ${names}\n`];
  const services = report.telemetry.map((each) => serviceBlock(each, style));
  return [
    ...blocks,
    ...commitBlock(report, style),
    ...services,
    ...others,
    rows.map(rowText).join(''),
  ].join('\n');
}

/** The commit status, if it is on or messages are left over. */
function commitBlock({ commit_status: { enabled, ...backlog } }: NotifyStatus, style: Style) {
  if (!enabled && backlog.queued + backlog.dead === 0) return [];
  const mark = style.dim(enabled ? '•' : '–');
  const words = enabled ? 'commit_status is on' : 'commit_status is off';
  const rows = backlogRows({ ...backlog, configured: enabled });
  return [`${mark} ${style.bold('Code host')}: ${words}\n${rows.map(rowText).join('')}`];
}

/** A service that records deploys: how far it is behind. */
function serviceBlock({ channel, url, lag_s, ...backlog }: RecordingStatus, style: Style): string {
  const lag = lag_s === null ? 'every deploy is recorded' : `${durationText(lag_s * 1000)} behind`;
  const words = backlog.stopped
    ? 'stopped: see the last error; `runner notify test` restarts it'
    : lag;
  const mark = backlog.stopped ? style.red('✘') : style.dim('•');
  const rows = [['address', url] as const, ...backlogRows({ ...backlog, configured: true })];
  const head = `${mark} ${style.bold(TELEMETRY[channel].title)}: ${words}`;
  return `${head}\n${rows.map(rowText).join('')}`;
}

/** Some of its credentials are set. */
function isBegun({ secret, missing, channel }: ChannelStatus): boolean {
  return secret !== null || missing.length < CHANNELS[channel].credentials.length;
}

/** Nothing of it is configured, and nothing waits for it. */
function isUnused(channel: ChannelStatus): boolean {
  const isLeft = channel.queued + channel.dead > 0 || channel.named_by.length > 0;
  return !channel.configured && !isBegun(channel) && !isLeft;
}

function channelText(channel: ChannelStatus, style: Style): string {
  const [mark, words] = verdictOf(channel, style);
  const head = `${mark} ${style.bold(CHANNELS[channel.channel].title)}: ${words}\n`;
  const advice = [
    ...channel.advice,
    ...namedAdvice(channel),
    ...(channel.problem?.hint ? [channel.problem.hint] : []),
  ];
  const arrows = advice.map((text) => `  ${style.yellow('→')} ${harmlessLine(text)}\n`);
  return [head, ...rowsOf(channel).map(rowText), ...arrows].join('');
}

function namedAdvice({ active, channel, named_by: apps }: ChannelStatus): string[] {
  if (active || apps.length === 0) return [];
  const names = `the .deploy.yml of ${apps.join(', ')} names it, so messages are lost`;
  return [`${names}: \`runner notify setup --channel ${channel}\``];
}

function verdictOf(channel: ChannelStatus, style: Style): readonly [string, string] {
  const { configured, active, missing, problem, healthy, stopped } = channel;
  if (!configured) {
    const words = `not active: ${missing.join(' and ')} is missing`;
    return [style.dim('–'), isBegun(channel) ? words : 'not configured'];
  }
  if (!active) {
    const words = 'configured, but notify.channel does not include it';
    return [style.dim('–'), problem ? `${words}; ${problemText(problem)}` : words];
  }
  if (problem) return [style.red('✘'), style.red(problemText(problem))];
  if (healthy === false) return [style.red('✘'), style.red(CHANNELS[channel.channel].unhealthy)];
  if (stopped) {
    const words = `stopped: the service refused the ${CHANNELS[channel.channel].secret}`;
    return [style.red('✘'), style.red(words)];
  }
  return healthy ? [style.green('✔'), 'active'] : [style.dim('•'), 'active, not checked'];
}

function rowsOf(channel: ChannelStatus): StatusRow[] {
  if (!channel.configured && channel.secret === null) return backlogRows(channel);
  const service = CHANNELS[channel.channel];
  return [
    [service.secret, channel.secret ?? 'not set'],
    ...service.rows(channel, channel.answer),
    ...backlogRows(channel),
  ];
}

function backlogRows(channel: Backlog & { readonly configured: boolean }): StatusRow[] {
  const { configured, queued, dead, waits_until, last_success, last_error } = channel;
  const rows: StatusRow[] = [];
  if (configured || queued > 0 || dead > 0) {
    const wait = waits_until === null ? '' : `, asked to wait until ${waits_until}`;
    rows.push(['queue', `${queued} waiting, ${dead} given up${wait}`]);
  }
  if (last_success !== null) rows.push(['delivered', last_success]);
  if (last_error !== null) {
    const at = wordOf(last_error.at);
    rows.push(['last error', `${at && `${at} `}${problemText(last_error)}`]);
  }
  return rows;
}

function rowText([label, text]: StatusRow): string {
  return `  ${label.padEnd(LABEL)}  ${harmlessLine(text)}\n`;
}

const MARKS = { delivered: '✔', rejected: '✘', failed: '✘', not_active: '–' } as const;

/** Where each test message arrived, or why it did not. */
export function trialsText(trials: readonly TrialResult[], style: Style): string {
  const lines = trials.flatMap((each) => {
    const { channel, result, hint, moved_to } = each;
    const colour = result === 'delivered' ? style.green : style.red;
    const line = `${colour(MARKS[result])} ${channel.padEnd(8)}  ${trialText(each)}\n`;
    const key = isTelemetry(channel) ? '' : CHANNELS[channel].movingKey;
    const moved = moved_to && `${key} is ${moved_to} now, saved`;
    return [line, ...[hint, moved].map((text) => (text ? `  → ${harmlessLine(text)}\n` : ''))];
  });
  return lines.join('');
}

/** `delivered: message 12 in Deploys (supergroup -100…)`. */
function trialText(trial: TrialResult): string {
  if (trial.result === 'not_active') return 'not active: nothing was sent';
  if (trial.result !== 'delivered') return `${trial.result}: ${problemText(trial)}`;
  if (isTelemetry(trial.channel)) return `accepted by ${TELEMETRY[trial.channel].title}`;
  const answer = fieldsOf(trial.answer);
  const place = CHANNELS[trial.channel].placeOf(answer);
  const message = `message ${wordOf(answer.message_id)}`.trim();
  return harmlessLine(`delivered: ${message} in ${place}`);
}
