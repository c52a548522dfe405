import { processIo } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rekeyAll } from '../src/master-key.ts';
import { headerOf, keyIds, rootWith, tokensIn } from './rekey-root.ts';

const token = fc.oneof(
  fc.stringMatching(/^[!-~]{1,64}$/),
  fc.stringMatching(/^[!-~]{1,64}$/).map((piece) => piece.repeat(4096).slice(0, 4096)),
);
const name = fc
  .stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,20}$/)
  .filter((text) => text !== 'registry');
const apps = fc.dictionary(name, fc.option(token), { maxKeys: 4, noNullPrototype: true });

test('any tokens of any apps survive any number of rekeys, with the layers they had', () => {
  fc.assert(
    fc.property(
      apps,
      fc.func(fc.boolean()),
      fc.integer({ min: 1, max: 3 }),
      (tokens, layered, times) => {
        const ckey = Object.keys(tokens).filter((app) => tokens[app] !== null && layered(app));
        const root = rootWith(tokens, ckey);
        const context = { io: processIo(), paths: pathsOf(root), note: () => {} };
        const used = new Set(keyIds(root));
        for (let time = 1; time <= times; time += 1) {
          const { failed, old_keys_dropped, key } = rekeyAll(context);
          assert.equal([failed, old_keys_dropped, [key]], [[], 1, keyIds(root)]);
          used.add(String(key));
        }
        assert.is(used.size, times + 1);
        const sorted = (all: object) => Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1));
        assert.equal(sorted(tokensIn(root)), sorted(tokens));
        for (const app of Object.keys(tokens).filter((each) => tokens[each] !== null)) {
          assert.is(headerOf(root, app).alg, ckey.includes(app) ? 'A256GCMKW' : 'dir');
        }
      },
    ),
    { numRuns: 25 },
  );
});

test.run();
