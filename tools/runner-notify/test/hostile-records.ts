/** Records whose every value is hostile, on one channel. */
import type { ChannelName } from '@runner/common/config/channels';
import { redactor } from '@runner/common/secrets/redactor';
import * as fc from 'fast-check';
import * as assert from 'uvu/assert';
import { CHANNELS } from '../src/channels/index.ts';
import { noticeOf } from '../src/message/notice.ts';
import { type Chats, event } from './chats.ts';
import { hostileText, longHostileText } from './hostile.ts';
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
          { redact: redactor(), verboseErrors: true, random: () => 0 },
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

/** White space at the ends of a message is cut, but not inside it. */
const inside = (shows: (text: string) => string, text: string) =>
  shows(`.${text.trim()}.`).slice(1, -1);
