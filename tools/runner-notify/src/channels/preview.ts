/** The messages of records, or of samples, as the services would receive them. */

import { newDeployId } from '@runner/common/audit/events';
import type { Context } from '@runner/common/cli/command';
import { CHANNEL_NAMES, type ChannelName, channelsIn } from '@runner/common/config/channels';
import type { NotifySettings } from '@runner/common/config/settings';
import { type Notice, noticeOf } from '../message/notice.ts';
import {
  type Announceable,
  type Chunks,
  chunksOf,
  recordsIn,
  withoutSecrets,
} from '../message/records.ts';
import { sampleRecords } from '../message/samples.ts';
import { Configured } from './configured.ts';
import { CHANNELS } from './index.ts';

/** Bytes up to this one are white space. */
const BLANK_MAX = 0x20;

/** One message. */
export type Preview = ReturnType<typeof previewsOf>[number];

/** Prints previews as records arrive; false when a line was not a record. Throws `config_invalid`. */
export async function printPreviews(
  context: Pick<Context, 'io' | 'paths' | 'print' | 'note'>,
  asked: string | undefined,
): Promise<boolean> {
  const { io, paths, print, note } = context;
  const configured = new Configured(context);
  const { settings, redact, active } = configured;
  const usable = configured.usableTemplates(note);
  const template: NotifySettings['template'] = (kind, channel) =>
    usable.includes(`${kind}.${channel}`) ? settings.template(kind, channel) : undefined;
  const channels = asked ? channelsIn(asked) : active.length > 0 ? active : CHANNEL_NAMES;
  const show = async (record: Announceable) => {
    const { verboseErrors } = settings;
    const notice = await noticeOf(record, { paths, redact, verboseErrors, random: io.random });
    for (const channel of channels) {
      for (const message of previewsOf(channel, notice, { ...settings, template }, note))
        await print(message);
    }
  };
  let sound = true;
  let given = false;
  const watched = async function* (chunks: Chunks) {
    for await (const chunk of chunks) {
      given ||= chunk.some((byte) => byte > BLANK_MAX);
      yield chunk;
    }
  };
  const onProblem = () => {
    sound = false;
  };
  const chunks = io.stdin.isTTY ? [] : watched(chunksOf(io.stdin));
  for await (const record of recordsIn(context, chunks, onProblem)) await show(record);
  if (!given) {
    const clean = withoutSecrets(context);
    for (const record of sampleRecords(newDeployId(io.random), io.now()))
      await show(await clean(record));
  }
  return sound;
}

function previewsOf(
  channel: ChannelName,
  notice: Notice,
  settings: NotifySettings,
  note: (text: string) => void,
) {
  const warn = (text: string) => note(`${channel}: ${text}`);
  const template = settings.template(notice.kind, channel);
  const { method, messages: messagesOf, addressOf } = CHANNELS[channel];
  const messages = messagesOf(notice, template, warn);
  return messages.map((message, index) => ({
    event_type: notice.eventType,
    project: notice.project,
    /** The same under their other names. */
    event: notice.eventType,
    app: notice.project,
    deploy_id: notice.deployId,
    channel,
    method,
    /** Which message of the event on this channel, from 1. */
    part: index + 1,
    parts: messages.length,
    /** The whole body, without the secret address. */
    payload: { ...addressOf(settings), ...message.payload },
  }));
}
