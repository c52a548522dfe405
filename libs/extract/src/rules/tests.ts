/** Lines that name a failing test, in every runner's way. */
import { rule } from './rule.ts';

/** Tried from top to bottom. */
export const TESTS = [
  rule(
    { name: 'pytest-summary', class: 'test', score: 94, use: 'test', on: 'line' },
    /^(?:FAILED|ERROR) \S{1,300}(?:::| - )\S/,
  ),
  rule({ name: 'pytest-detail', class: 'test', score: 90, on: 'body' }, /^E {3}\s{0,8}\S/),
  rule(
    { name: 'failing-test', class: 'test', score: 84, use: 'test', on: 'line' },
    /\| FAIL \|$/,
    /^--- FAIL: \S/,
    /^● (?!Console|[\w@.-]{1,100}\.(?:service|socket|timer|mount) - )\S.{0,300}$/,
    /^(?:not ok \d+ |# +Failed test ')/,
    /^\d{1,4}\) \S.{0,300}$/,
    /^(?!.{0,200}(?:\.{3}|…)$)(?:✗|✘|×|✖|☒|❌|\(fail\)|\[fail\]:?|✕) \S.{0,300}$/i,
  ),
  rule(
    { name: 'expectation', class: 'test', score: 83 },
    /^(?:Expected|expected)\b.{0,200}\b(?:but|to (?:be|equal|match|contain|have)|got|received|was)\b|^(?:expect\(|assert(?:ion)?\b.{0,80}(?:failed|==|!=)|got:? .{1,100}want)|: got .{1,200}, want |^Values are not equal/,
  ),
];
