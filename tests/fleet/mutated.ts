/** Messages that a server signed, changed at random. */
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { CONTROL, type Fields, goodBatch, goodResult, goodState } from './stolen.ts';

export const record = JSON.stringify({
  event_type: 'DeploySuccess',
  project: 'shop',
  version: 'v1',
  timestamp: '2026-11-23T10:00:00.000Z',
});
export const goodHead = { commit: 'c'.repeat(40), version: 'v2', problem: null, code: null };
const nested = (open: string, close: string) => `${open.repeat(20_000)}1${close.repeat(20_000)}`;

/** Texts of JSON that a field may become. */
const junk = fc.oneof(
  fc.constantFrom(
    ...[
      'null',
      'true',
      '[]',
      '{}',
      '[null]',
      '0',
      '-1',
      '1e400',
      '1e308',
      '-0',
      '9007199254740993',
    ],
    ...['{"toString":1,"valueOf":1}', '{"length":5}', '{"__proto__":{"app":"x"}}', '"*"', '""'],
    ...[nested('[', ']'), nested('{"a":', '}'), JSON.stringify('x'.repeat(100_000))],
    ...[
      JSON.stringify(CONTROL),
      JSON.stringify('\ud800'),
      '"2026-02-31T00:00:00.000Z"',
      '[[["web1"]]]',
    ],
    JSON.stringify(gzipSync(Buffer.alloc(50_000_000)).toString('base64')),
  ),
  fc.json({ maxDepth: 2 }),
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => JSON.stringify(text)),
  fc.double().map((number) => String(number)),
);

export const GOOD: Readonly<Record<string, () => Fields>> = {
  state: () => ({ ...goodState(), head: goodHead }),
  result: () => goodResult(),
  events: () => goodBatch(`${record}\n`),
};

/** A good message of which some fields are missing, twice there, or something else. */
export const mutated = fc.record({
  use: fc.constantFrom('state', 'result', 'events'),
  changes: fc.array(
    fc.record({ where: fc.nat(20), how: fc.constantFrom('set', 'drop', 'twice', 'inside'), junk }),
    { minLength: 1, maxLength: 3 },
  ),
});

export function bodyOf({
  use,
  changes,
}: {
  use: string;
  changes: { where: number; how: string; junk: string }[];
}) {
  const fields = Object.entries((GOOD[use] as () => Fields)()).map(
    ([name, value]) => [name, JSON.stringify(value)] as [string, string],
  );
  for (const { where, how, junk: other } of changes) {
    const index = where % Math.max(1, fields.length);
    const [name = 'x', value = ''] = fields[index] ?? [];
    if (how === 'drop') fields.splice(index, 1);
    else if (how === 'twice') fields.push([name, other]);
    else if (how === 'inside' && /^[[{]/.test(value))
      fields[index] = [name, value.replace(/:("[^"]*"|null|\d+)/, () => `:${other}`)];
    else fields[index] = [name, other];
  }
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}
