import { appendFileSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FollowedFile } from '../src/lifecycle/followed.ts';
import { markOutput, readMarks } from '../src/run/output-marks.ts';

const test = suite('output since a time');
const { now } = Date;
test.after.each(() => {
  Date.now = now;
});

/** An app that prints at times of the test. */
function printing() {
  const folder = temporaryFolder('marks');
  const path = join(folder, 'output.log');
  let time = Math.ceil(now() / 1000) * 1000 + 60_000;
  Date.now = () => time;
  const printed: number[] = [];
  const append = (text: string) => {
    appendFileSync(path, text);
    utimesSync(path, time / 1000, time / 1000);
  };
  return {
    folder,
    path,
    printed,
    time: () => time,
    wait: (milliseconds: number) => {
      time += milliseconds;
    },
    print(text = '\n') {
      append(`${printed.length} ${time}${text}`);
      printed.push(time);
    },
    rotate() {
      for (const name of ['.2', '.1', ''])
        try {
          renameSync(path + name, `${path}.${Number(name.slice(1)) + 1}`);
        } catch {
          // Not there yet.
        }
      append('');
    },
    mark: () => markOutput(folder, [path]),
    since(since: number, count = 1e6) {
      const followed = new FollowedFile(path);
      const { text, from } = followed.last(count, { marks: readMarks(folder), since });
      followed.close();
      return { lines: text.split('\n').slice(0, -1), from };
    },
  };
}

const EVENT = fc.oneof(
  { weight: 4, arbitrary: fc.constant('print' as const) },
  { weight: 2, arbitrary: fc.integer({ min: 20, max: 5_000 }) },
  fc.constant('mark' as const),
  fc.constant('rotate' as const),
);

test('output since a time is shown, and nothing before the stated time', () => {
  const events = fc.array(EVENT, { maxLength: 40 });
  fc.assert(
    fc.property(events, fc.double({ min: 0, max: 1, noNaN: true }), (steps, part) => {
      const app = printing();
      const begun = app.time();
      let kept = 0;
      const rotated: number[] = [];
      for (const step of steps) {
        if (typeof step === 'number') app.wait(step);
        else app[step]();
        if (step !== 'rotate') continue;
        rotated.push(app.printed.length);
        kept = rotated.at(-4) ?? 0;
      }
      const since = begun + Math.floor((app.time() - begun) * part);
      const { lines, from } = app.since(since);
      const shown = lines.map((line) => Number(line.split(' ')[1]));
      const wanted = app.printed.slice(kept).filter((time) => time >= since);
      assert.equal(shown.slice(shown.length - wanted.length), wanted);
      const first = Math.min(from ?? since, since);
      assert.ok(
        shown.every((time) => time >= first - 1),
        `${shown} begins before ${first}`,
      );
    }),
    { numRuns: 40 },
  );
});

test('reading can start at each minute mark; a partial line belongs to what follows', () => {
  const app = printing();
  for (let minute = 0; minute < 5; minute += 1) {
    app.print();
    app.print(' half');
    app.wait(1);
    app.mark();
    app.wait(59_000);
    app.print('\n');
  }
  const { lines, from } = app.since(app.time() - 90_000);
  assert.is(lines.length, 3);
  assert.match(String(lines[0]), /^10 .* half11 /);
  assert.is(from, app.time() - 118_001);
  assert.is(app.since(app.time() - 90_000, 2).from, undefined);
});

test('a truncated file has no earlier marks', () => {
  const app = printing();
  for (let at = 0; at < 100; at += 1) app.print();
  app.mark();
  rmSync(app.path);
  app.wait(1000);
  app.print();
  app.wait(1000);
  assert.is(app.since(app.time() - 1500).lines.length, 1);
});

test('the file of marks stays bounded, and the last hours keep theirs', () => {
  const app = printing();
  for (let minute = 0; minute < 1100; minute += 1) {
    app.print();
    app.wait(1);
    app.mark();
    app.wait(59_999);
  }
  assert.ok(readMarks(app.folder).length <= 1001);
  assert.is(app.since(app.time() - 60 * 60_000).lines.length, 60);
  const day = app.since(app.time() - 17 * 60 * 60_000).lines.length;
  assert.ok(day >= 17 * 60 && day < 18 * 60, String(day));
});

test('a link in place of the marks is not followed', () => {
  const app = printing();
  app.print();
  const elsewhere = join(app.folder, 'elsewhere');
  symlinkSync(elsewhere, join(app.folder, 'output.marks'));
  app.mark();
  assert.throws(() => utimesSync(elsewhere, 0, 0));
});

test.run();
