/** Records whose every value is hostile, on one channel. */
import type { ChannelName } from '@runner/common/config/channels';
import * as fc from 'fast-check';
import * as assert from 'uvu/assert';
import { CHANNELS } from '../src/channels/index.ts';
import { noticeOf } from '../src/message/notice.ts';
import { type Chats, event } from './chats.ts';
import { hostileRecord, hostileText, longHostileText } from './hostile.ts';
import { longestNotices, NOTICE_OPTIONS } from './notices.ts';
import { fresh, open, SUBJECTS } from './subjects.ts';

/** A longer error may be cut once more, in the middle, for the service's own limit. */
const WHOLE_MAX = 400;

/** Nothing is refused, nothing shown differently than documented, and no one is called. */
export async function takesAnything(name: ChannelName, chats: Chats, runs: number): Promise<void> {
  const subject = SUBJECTS[name];
  const channel = open(name, chats);
  const shows = subject.shows ?? ((text: string) => text);
  await fc.assert(
    fc.asyncProperty(hostileText, longHostileText, hostileText, async (value, error, short) => {
      const server = fresh(subject, chats);
      for (const text of [error, short]) {
        const fields = { version: value, instance: value, previous_version: value, error: text };
        const notice = await noticeOf(
          {
            kind: 'DeployFailure',
            project: 'shop',
            fields: event('DeployFailure', { ...fields, reason: value }),
          },
          NOTICE_OPTIONS,
        );
        const from = server.messages.length;
        const messages = CHANNELS[name].messages(notice, undefined, () => {});
        for (const message of messages) {
          const outcome = await channel.send(message);
          assert.is(outcome.class, 'delivered', JSON.stringify(outcome));
        }
        const arrived = server.messages.slice(from);
        assert.is(arrived.length, messages.length);
        const read = arrived.map((each) => subject.read(each as never));
        assert.equal(
          read.flatMap(({ calls }) => calls),
          [],
        );
        const seen = shows(read[0]?.text ?? '');
        for (const each of [notice.version, notice.instance, notice.previousVersion])
          assert.ok(seen.includes(inside(shows, each)), `${each} in ${seen}`);
        const cause = [...notice.error].length <= WHOLE_MAX ? notice.error : '';
        assert.ok(seen.includes(inside(shows, cause)), `${cause} in ${seen}`);
      }
    }),
    { numRuns: runs },
  );
}

/** Records of several kinds, whose fields are hostile or missing, are all taken. */
export async function takesAnyKind(name: ChannelName, chats: Chats, runs: number): Promise<void> {
  const channel = open(name, chats);
  await fc.assert(
    fc.asyncProperty(hostileRecord, async (given) => {
      fresh(SUBJECTS[name], chats);
      const notice = await noticeOf(given as never, NOTICE_OPTIONS);
      for (const message of CHANNELS[name].messages(notice, undefined, () => {})) {
        const outcome = await channel.send(message);
        assert.is(outcome.class, 'delivered', JSON.stringify(outcome));
      }
    }),
    { numRuns: runs },
  );
}

/** The longest values of every kind are taken, whatever they consist of; what failed is followed by its log. */
export async function takesLongest(name: ChannelName, chats: Chats): Promise<void> {
  const channel = open(name, chats);
  for (const character of ['x', '`', '\\', '😀', '漢', '.', '`\\']) {
    for (const notice of await longestNotices(character)) {
      fresh(SUBJECTS[name], chats);
      const messages = CHANNELS[name].messages(notice, undefined, () => {});
      const isLong = ['DeployFailure', 'JobFailed'].includes(notice.eventType);
      assert.is(messages.length, isLong && !SUBJECTS[name].wholeLog ? 2 : 1);
      for (const message of messages) assert.is((await channel.send(message)).class, 'delivered');
    }
  }
}

/** White space at the ends of a message is cut, but not inside it. */
const inside = (shows: (text: string) => string, text: string) =>
  shows(`.${text.trim()}.`).slice(1, -1);
