import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Queue } from '../src/deliver/queue.ts';
import { newEntry } from '../src/spool/entry.ts';
import { entryName } from '../src/spool/names.ts';
import type { Spool } from '../src/spool/spool.ts';

test('a thousand new entries do not list a big spool a thousand times', () => {
  let time = 0;
  let listings = 0;
  const spool = {
    save: () => {
      time += 1;
    },
    names: () => {
      listings += 1;
      time += 100;
      return [];
    },
  } as unknown as Spool;
  const clock = {
    now: () => time,
    elapsed: () => time,
    sleep: async () => {},
    random: () => 0,
  };
  const queue = new Queue({ spool, channel: 'discord', clock, note: () => {} });
  for (let number = 0; number < 1000; number += 1) {
    const event = { deploy_id: String(number) };
    queue.begin();
    queue.add(entryName(number, 0, 'discord'), newEntry('discord', event, new Date(number)));
    assert.ok(queue.choose({ wait: 0, why: 'rate', problem: undefined }, false));
  }
  assert.ok(listings <= 2, String(listings));
});

test.run();
