import { isPrivateAddress } from '@runner/deploy/guard/dial';
import { HostNames, questionIn } from '@runner/deploy/guard/names';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

function query(name: string, type = 1): Buffer {
  const labels = name.split('.').flatMap((each) => [each.length, ...Buffer.from(each, 'latin1')]);
  return Buffer.from([0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, type, 0, 1]);
}

test('a question for an address is answered with one, for anything else with nothing', () => {
  const asked = questionIn(query('Shop.Example.org'));
  assert.is(asked?.name, 'shop.example.org');
  const answer = asked?.answer('127.64.0.1') as Buffer;
  assert.is(answer.readUInt16BE(0), 0xabcd);
  assert.is(answer.readUInt16BE(6), 1);
  assert.equal([...answer.subarray(-4)], [127, 64, 0, 1]);
  const other = questionIn(query('shop.example.org', 28));
  const empty = other?.answer('127.64.0.1') as Buffer;
  assert.equal([empty.readUInt16BE(2) & 15, empty.readUInt16BE(6)], [0, 0]);
  const refused = asked?.answer(undefined) as Buffer;
  assert.equal([refused.readUInt16BE(2) & 15, refused.readUInt16BE(6)], [3, 0]);
});

test('any bytes are a question or not, and any answer repeats the question', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 700 }), (bytes) => {
      const asked = questionIn(Buffer.from(bytes));
      if (asked) assert.ok(asked.answer('127.64.0.1').length <= bytes.length + 16);
    }),
  );
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 63, unit: 'binary-ascii' }), (label) => {
      const asked = questionIn(query(`${label.replaceAll('.', '-')}.example.org`));
      const isName = /^[a-z0-9-]+\.example\.org$/.test(asked?.name ?? '');
      assert.ok(asked === undefined || asked.name === '?' || isName, asked?.name);
    }),
  );
});

test('each name has one address of its own, up to a limit', () => {
  const names = new HostNames();
  const all = Array.from({ length: 5_000 }, (_, at) => names.addressOf(`n${at}.example.org`));
  const known = all.filter((each) => each !== undefined);
  assert.is(known.length, 4_096);
  assert.is(new Set(known).size, 4_096);
  for (const address of known)
    assert.match(address, /^127\.(?:6[4-9]|[789]\d|1[01]\d|12[0-7])\.\d{1,3}\.\d{1,3}$/);
  assert.is(names.nameOf(all[300] as string), 'n300.example.org');
  assert.is(names.addressOf('n0.example.org'), all[0]);
});

test('private addresses of both families are found', () => {
  const family = (address: string) => ({ address, family: address.includes(':') ? 6 : 4 });
  for (const each of [
    '10.1.2.3',
    '127.9.9.9',
    '169.254.169.254',
    '::1',
    '::ffff:10.0.0.1',
    'fd00::1',
    '64:ff9b::a00:1',
  ])
    assert.ok(isPrivateAddress(family(each)), each);
  for (const each of ['1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])
    assert.not(isPrivateAddress(family(each)), each);
});

test.run();
