/** Whatever the host does meanwhile, its last word on a commit is that of the log. */
import type { Io } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import type { Fault } from '@runner/testing/faults';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OpenChannels } from '../src/deliver/channels.ts';
import { deliverDue } from '../src/deliver/flush.ts';
import { Announcer } from '../src/deliver/send.ts';
import { event, makeWorld, sha, statuses, TYPES } from './commit-world.ts';

const test = suite('commit status, storms');

const FAULTS: readonly Fault[] = [
  'drop',
  'cut',
  'html',
  'not-json',
  { huge: 2_000_000 },
  { redirect: 'http://127.0.0.1:9' },
  { status: 500, body: {} },
  { status: 401, body: { message: 'Bad credentials' } },
  { status: 403, body: { message: 'rate limit' }, headers: { 'retry-after': '7' } },
  { status: 429, body: {}, headers: { 'retry-after': '3' } },
  { status: 404, body: {} },
];

for (const type of TYPES) {
  test(`${type}: after 200 deploys with a host that fails in every way, the last status is the log's, 200 of 200`, async () => {
    const { root, api } = await makeWorld(type);
    let time = Date.now();
    const clock = {
      now: () => time,
      elapsed: () => time,
      sleep: async (ms: number) => {
        time += ms;
      },
      random: Math.random,
    };
    const io = { env: {}, pid: process.pid, now: () => new Date(time), random: Math.random };
    const common = {
      io: io as unknown as Io,
      paths: pathsOf(root),
      clock,
      title: 'test',
      note() {},
    };
    const log = new Map<string, boolean>();
    const chance = (count: number) => Math.floor(Math.random() * count);
    for (let number = 1; number <= 200; number += 1) {
      for (let times = chance(4); times > 0; times -= 1)
        api.fail(FAULTS[chance(FAULTS.length)] as Fault, 1 + chance(2));
      const announcer = new Announcer(common, { channel: undefined, wait: 0, dryRun: false });
      // Some commits are deployed twice.
      const commit = 1 + chance(100);
      for (const each of [
        'DeployStarted',
        chance(2) === 0 ? 'DeploySuccess' : 'DeployFailure',
      ] as const) {
        log.set(sha(commit), each === 'DeploySuccess');
        const fields = { ...event(each, commit), deploy_id: number.toString(16).padStart(8, '0') };
        await announcer.announce({ kind: each, project: 'shop', fields });
      }
      time += 5_000;
    }
    for (let round = 0; round < 500; round += 1) {
      const opened = new OpenChannels(common);
      if (round === 50) api.heal();
      if (opened.spool.names('code-host').length === 0) break;
      await deliverDue(opened.outletOf('code-host'), false, () => {});
      time += 61_000;
    }
    const last = new Map(statuses(api).map(([commit, state]) => [commit, state]));
    const good = {
      github: 'success',
      gitlab: 'success',
      gitea: 'success',
      bitbucket: 'SUCCESSFUL',
    };
    for (const [commit, isGood] of log) assert.is(last.get(commit) === good[type], isGood, commit);
    assert.equal(new OpenChannels(common).spool.names('code-host', 'dead'), []);
    await api.close();
  });
}

test.run();
