import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Joiner } from '../src/message/joined.ts';
import { type InputLine, linesOf, type RecordLine } from '../src/message/records.ts';

/** Bytes in pieces of the given size. */
function* piecesOf(bytes: Uint8Array, size = bytes.length || 1): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size?: number): Promise<InputLine[]> {
  const lines: InputLine[] = [];
  for await (const line of linesOf(piecesOf(Buffer.from(text), size))) lines.push(line);
  return lines;
}

test('a record is taken in either naming', async () => {
  const lines = await read(
    '{"event":"DeployStarted","app":"a"}\n{"event_type":"DeploySuccess","project":"b"}\n',
  );
  assert.equal(
    lines.map((line) =>
      'record' in line ? [line.number, line.record.kind, line.record.project] : line,
    ),
    [
      [1, 'DeployStarted', 'a'],
      [2, 'DeploySuccess', 'b'],
    ],
  );
});

test('a record of the log brings its number and the hash of its line', async () => {
  const line = `{"event":"DeployStarted","app":"a","instances":["x"],"seq":57,"prev":"${'0'.repeat(32)}"}`;
  const [found] = await read(`${line}\n`);
  const hash = createHash('sha256').update(line).digest('hex').slice(0, 32);
  assert.is(found && 'record' in found && found.record.fields.place, `#57·${hash}`);
  const [ofFleet] = await read(line.replace(/\}$/, ',"server":"web-1"}\n'));
  assert.is(ofFleet && 'record' in ofFleet && ofFleet.record.fields.place, `#57·${hash}`);
});

test('the last of the instances is announced, with what each of them ran', async () => {
  const of = (instance: string, previous: string) =>
    `{"event":"DeployFailure","app":"a","deploy_id":"a1b2c3d4","instance":"${instance}","instances":["x","y"],"previous_version":"${previous}"}\n`;
  const shown = async (text: string) =>
    (await read(text)).map(
      (line) =>
        'record' in line && [line.record.fields.instance, line.record.fields.previous_version],
    );
  assert.equal(await shown(of('x', 'v1') + of('y', 'v2')), [['x,y', 'v1, v2']]);
  assert.equal(await shown(of('x', 'v1') + of('y', 'v1')), [['x,y', 'v1']]);
});

test('an event whose last listed record does not come is announced at the end', async () => {
  const of = (instance: string, id: string, more = '') =>
    `{"event":"DeployFailure","app":"a","deploy_id":"${id}","instance":"${instance}","instances":["x","y"]${more}}\n`;
  const shown = (lines: readonly InputLine[]) =>
    lines.map((line) => {
      const { instance, domain, deploy_id } = 'record' in line ? line.record.fields : {};
      return [line.number, deploy_id, instance, domain];
    });
  const [x, y] = [of('x', 'aaaaaaaa', ',"domain":"x.example"'), of('y', 'aaaaaaaa')];
  const other = of('x', 'bbbbbbbb');
  assert.equal(shown(await read(x)), [[1, 'aaaaaaaa', 'x,y', 'x.example']]);
  assert.equal(shown(await read(other + x + y)), [
    [3, 'aaaaaaaa', 'x,y', 'x.example'],
    [1, 'bbbbbbbb', 'x,y', ''],
  ]);
  const many = Array.from({ length: 1_001 }, (_, at) => of('x', String(10_000_000 + at)));
  const found = shown(await read(many.join('')));
  assert.equal([found.length, found[0]?.[1]], [1_001, '10000000']);
  const joiner = new Joiner<RecordLine>();
  const pieces: InputLine[] = [];
  for (const piece of [x, y])
    for await (const line of linesOf([Buffer.from(piece)], joiner)) pieces.push(line);
  assert.equal([shown(pieces), joiner.isOpen], [[[1, 'aaaaaaaa', 'x,y', 'x.example']], false]);
});

test('records of other kinds and empty lines are passed over, and lines keep their numbers', async () => {
  const lines = await read(
    '\n{"event_type":"GuardBypassed"}\r\n   \n{"event":"DeployStarted","app":"a"}',
  );
  assert.equal(
    lines.map((line) => line.number),
    [4],
  );
});

const PROBLEMS: readonly (readonly [line: string, problem: string])[] = [
  ['nonsense', 'it is not a JSON object'],
  ['{', 'it is not a JSON object: put one object on a line: jq -c'],
  ['{"event_type":"DeployStarted","project":"a"', 'it is not a JSON object'],
  ['[]', 'it is not a JSON object'],
  ['null', 'it is not a JSON object'],
  ['"DeployStarted"', 'it is not a JSON object'],
  ['{}', 'the record has no event_type'],
  ['{"event_type":7,"project":"a"}', 'the record has no event_type'],
  ['{"event_type":"DeploySucces","project":"a"}', "there is no event 'DeploySucces'"],
  ['{"event_type":"DeployStarted"}', 'the record has no project'],
  ['{"event_type":"DeployStarted","project":""}', 'the record has no project'],
  ['{"event_type":"DeployStarted","project":{}}', 'the record has no project'],
  [
    '{"event":"DeployStarted","app":"a","project":"b"}',
    'the record has two different values in project and app',
  ],
  [
    '{"event":"DeployStarted","app":"a","deploy_id":"x"}',
    'the deploy_id does not have 8 letters or digits',
  ],
  [
    '{"event":"DeployStarted","app":"a","deploy_id":7}',
    'the deploy_id does not have 8 letters or digits',
  ],
];

for (const [line, problem] of PROBLEMS) {
  test(`the line ${line} is reported: ${problem}`, async () => {
    assert.equal(await read(`${line}\n`), [{ number: 1, problem }]);
  });
}

test('a line of five megabytes is reported, and the next one is read', async () => {
  const lines = await read(
    `"${'x'.repeat(5_000_000)}"\n{"event":"DeployStarted","app":"a"}\n`,
    65_536,
  );
  assert.equal(lines[0], { number: 1, problem: 'it is longer than 4194304 bytes' });
  assert.ok(lines[1] && 'record' in lines[1]);
});

test('how the bytes come in pieces makes no difference', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 30 });
  const line = fc.oneof(
    text,
    text.map((project) => JSON.stringify({ event: 'DeployFailure', app: project, error: project })),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 6 }),
      fc.integer({ min: 1, max: 40 }),
      async (lines, size) => {
        const whole = lines.join('\n');
        assert.equal(await read(whole, size), await read(whole));
      },
    ),
  );
});

test.run();
