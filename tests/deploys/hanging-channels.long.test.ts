/** A queue of 100,000 messages for six channels that hang. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hangWith } from './hanging-channels.ts';

/** Messages for each of the six channels. */
const EVENTS = 16_667;

test('with 100,000 messages for six hanging channels, a deploy ends in time and in 150 MB', async () => {
  const { alone, deploy, memory, queued } = await hangWith(EVENTS);
  // The wait for the chats, and what a busy machine adds to a deploy.
  assert.ok(deploy - alone < 25, `${alone} s, ${deploy} s`);
  assert.ok(Math.max(...Object.values(memory)) <= 150, JSON.stringify(memory));
  assert.ok(queued >= EVENTS * 6, String(queued));
});

test.run();
