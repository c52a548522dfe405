/** What an access log says of the time before a release. */
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AccessLog, endOfLog, type LogPlace } from '@runner/deploy/proxy/access-log';
import { requestSources } from '@runner/deploy/watch/requests';
import { judge } from '@runner/deploy/watch/source';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('access log');
const path = join(temporaryFolder('log'), 'access.log');
const lines = (status: number, count: number) => `{"status":${status}}\n`.repeat(count);
const now = () => endOfLog(path) as LogPlace;
const add = (status: number, count: number) => {
  const from = now();
  appendFileSync(path, lines(status, count));
  return { from, to: now() };
};
const countsOf = (place: LogPlace, but: Parameters<AccessLog['before']>[1]) => {
  const log = new AccessLog(path);
  const statuses = log.before(place, but).map(({ status }) => status);
  log.close();
  return [200, 500].map((each) => statuses.filter((status) => status === each).length);
};

test('the parts of releases that were left again are not of the time before', () => {
  writeFileSync(path, lines(200, 100));
  const first = add(500, 60);
  add(200, 30);
  const second = add(500, 40);
  add(200, 3);
  const place = now();
  add(200, 7);
  assert.equal(countsOf(place, []), [133, 100]);
  assert.equal(countsOf(place, [second, first]), [133, 0]);
  // Parts may meet, and hide more than is read back.
  const all = { from: { ...place, size: 0 }, to: second.to };
  assert.equal(countsOf(place, [all, first, second]), [3, 0]);
});

test('a part that began in a log before its rotation is that of the new one until its end', () => {
  const { from } = add(500, 1);
  renameSync(path, `${path}.1`);
  writeFileSync(path, lines(500, 20));
  const to = now();
  add(200, 10);
  assert.equal(countsOf(now(), [{ from, to }]), [10, 0]);
});

test('a part of a log that was emptied since hides nothing', () => {
  writeFileSync(path, lines(200, 50));
  const part = add(500, 50);
  writeFileSync(path, lines(200, 20));
  assert.equal(countsOf(now(), [part]), [20, 0]);
});

test('a log that was emptied since says nothing of the time before', () => {
  writeFileSync(path, lines(200, 50));
  const place = now();
  writeFileSync(path, lines(500, 20));
  assert.equal(countsOf(place, []), [0, 0]);
});

test('a watch says that a log is gone, and calls nothing good by one that was gone for most of it', async () => {
  writeFileSync(path, '');
  const rules = { for: 20_000, errors: 0.05, latency: 2 };
  const [requests] = requestSources(rules, { path, from: now(), unusual: [] }, () => 0);
  const look = async (count: number) => {
    for (let at = 0; at < count; at += 1) await requests?.look();
  };
  appendFileSync(path, lines(200, 140));
  await look(7);
  renameSync(path, `${path}.gone`);
  await look(4);
  assert.equal([requests?.finding, requests?.words], ['good', '5xx 0.0 % of 140']);
  await look(4);
  const lost = (share: string) => `5xx 0.0 % of 140; ${path} could not be read at ${share} looks`;
  assert.equal([requests?.finding, requests?.words], ['open', lost('8 of 15')]);
  writeFileSync(path, lines(200, 1));
  await look(2);
  assert.is(requests?.finding, 'good');
  assert.match(requests?.words ?? '', '5xx 0.0 % of 141; ');
  requests?.close?.();
});

test('an outage before a release is not usual: faults are found, and what is as before is not slow', async () => {
  const rules = { for: 60_000, errors: 0.05, latency: 2 };
  const good = '{"status":200,"duration":0.02}\n';
  const verdictOf = async (answers: string) => {
    writeFileSync(path, '{"status":502,"duration":0.000}\n'.repeat(400) + good.repeat(200));
    const sources = requestSources(rules, { path, from: now(), unusual: [] }, () => 40_000);
    for (let at = 0; at < 30; at += 1) {
      appendFileSync(path, answers);
      for (const source of sources) await source.look();
    }
    for (const source of sources) source.close?.();
    return judge(sources).verdict;
  };
  assert.is(await verdictOf(good.repeat(10)), 'good');
  assert.is(await verdictOf(good.repeat(8) + lines(500, 2)), 'bad');
});

test('a look reads all of what a busy proxy has written since the one before', () => {
  writeFileSync(path, '');
  const log = new AccessLog(path);
  log.before(now());
  appendFileSync(path, lines(200, 200_000) + lines(500, 100));
  const answers = log.next();
  assert.equal([answers.length, answers.at(-1)?.status], [200_100, 500]);
  log.close();
});

test.run();
