/** Statements of a deploy.rb end where Ruby ends them, so that none hides those below it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rubyEntries } from '../src/read/ruby.ts';

for (const statement of [
  'if bar then set :y, 2 end',
  'unless a then b else if c then d end end',
  'begin; foo; end',
  'def x; 1; end',
  'while x do y end',
  'x = if a then b end',
  'task :foo do puts 1; end',
  'after :a, :b do |x| puts x end',
  'set :z, 2 if bar',
  'set :end, 1',
  'foo(do: 1, end: 2)',
  'range.end',
  'if x\n  foo; end',
  'x = if a\n  b\nend',
  'until x do\n  y\nend',
  'x =~ /(/',
  'x = <<NEVER',
  'if never_ended',
]) {
  test(`the line after \`${statement.replaceAll('\n', '⏎')}\` is read`, () => {
    const entries = rubyEntries(`${statement}\nset :keep_releases, 3\n`, 'deploy.rb');
    const { key, value, line } = entries.at(-1) ?? {};
    const last = statement.split('\n').length + 1;
    assert.equal([entries.length, key, value, line], [2, 'set.keep_releases', 3, last]);
  });
}

test.run();
