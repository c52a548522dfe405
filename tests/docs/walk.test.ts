/** The walk through one deploy in docs/contributing.md leads through the code as it is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutFolder } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const read = (path: string) => readFileSync(join(checkoutFolder(), path), 'utf8');
const [, walk = ''] =
  /\n## A walk through one deploy\n([\s\S]*?)\n## /.exec(read('docs/contributing.md')) ?? [];
const stations = [...walk.matchAll(/`(\w+)` in\s+`([\w/.-]+)`/g)].map(([, name, file]) => ({
  name: name as string,
  file: file as string,
}));

test('the walk has at most 40 functions', () => {
  assert.ok(stations.length >= 30 && stations.length <= 40, String(stations.length));
});

for (const { name, file } of stations) {
  test(`${name} is a function of ${file}`, () => {
    const text = read(file);
    const isFunction = new RegExp(`\\bfunction\\*? ${name}\\b|^ {2}${name}\\(`, 'm').test(text);
    assert.ok(isFunction, `${file} has no function ${name}`);
  });
}

test.run();
