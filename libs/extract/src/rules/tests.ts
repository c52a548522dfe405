/** Lines that name a failing test, in every runner's way. */
import { rule } from './rule.ts';

/** Tried from top to bottom. */
export const TESTS = [
  rule(
    { name: 'style-issues', class: 'lint', score: 99 },
    /\bCode style issues? (?:were )?found\b|^\d{1,5} files? would be reformatted\b/i,
  ),
  rule(
    { name: 'coverage', class: 'test', score: 88 },
    /\bcoverage\b.{1,120}\b(?:not met|below|less than|under)\b|\bcoverage (?:threshold|failure)\b/i,
  ),
  rule(
    { name: 'expected-block', class: 'test', score: 87, on: 'line' },
    /^(?:\[FAILED\] )?Expected(?:: \S.{0,300}|:?)$/,
  ),
  rule(
    { name: 'pytest-summary', class: 'test', score: 94, use: 'test', on: 'line' },
    /^(?:FAILED|ERROR) \S{1,300}(?:::| - )\S/,
  ),
  rule({ name: 'pytest-detail', class: 'test', score: 90, on: 'body' }, /^E {3}\s{0,8}\S/),
  rule({ name: 'prove', class: 'test', score: 48, on: 'line' }, /^\S{1,200} \(Wstat: [1-9]/),
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
