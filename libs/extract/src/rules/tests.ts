/** Lines that name a failing test, in every runner's way. */
import { rule } from './rule.ts';

/** Tried from top to bottom. */
export const TESTS = [
  rule(
    { name: 'style-issues', class: 'lint', score: 99 },
    'code style issue|would be reformatted',
    /\bCode style issues? (?:were )?found\b|^\d{1,5} files? would be reformatted\b/i,
  ),
  rule(
    { name: 'coverage', class: 'test', score: 88 },
    'coverage',
    /\bcoverage\b.{1,120}\b(?:not met|below|less than|under)\b|\bcoverage (?:threshold|failure)\b/i,
  ),
  rule(
    { name: 'test-failure', class: 'test', score: 80, on: 'line' },
    'test fail',
    /^\W{0,4}[Tt]est (?:failure|failed|FAILED): \S/,
  ),
  rule(
    { name: 'table-fail', class: 'test', score: 84, use: 'test', on: 'line' },
    ' fail ',
    /\| FAIL \|$/,
  ),
  rule(
    { name: 'expected-block', class: 'test', score: 87, on: 'line' },
    'expected',
    /^(?:\[FAILED\] )?Expected(?:: \S.{0,300}|:?)$/,
  ),
  rule(
    { name: 'named-failed', class: 'test', score: 66, use: 'test', on: 'line' },
    ' failed| [e]',
    /^\S.{1,200} \[E\]$|^(?![>\d])(?!.{0,200}(?:\b(?:task|build|target|tests?|step|job|compilation|run)|\d) FAILED$)\S.{0,200} FAILED$/,
  ),
  rule(
    { name: 'pytest-summary', class: 'test', score: 94, use: 'test', on: 'line' },
    'fail|error',
    /^(?:FAILED|ERROR) \S{1,300}(?:::| - )\S/,
  ),
  rule({ name: 'pytest-detail', class: 'test', score: 90, on: 'body' }, 'e   ', /^E {3}\s{0,8}\S/),
  rule(
    { name: 'ctest', class: 'test', score: 84, use: 'test', on: 'line' },
    '***',
    /^\d+\/\d+ Test +#\d+: .{1,120}\*\*\*/,
  ),
  rule(
    { name: 'go-test', class: 'test', score: 84, use: 'test', on: 'line' },
    '--- fail',
    /^--- FAIL: \S/,
  ),
  rule(
    { name: 'rust-test', class: 'test', score: 80, use: 'test', on: 'line' },
    ' stdout ----',
    /^---- .{1,200} stdout ----$/,
  ),
  rule(
    { name: 'bullet', class: 'test', score: 86, use: 'test', on: 'line' },
    '● ',
    /^● (?!Console|[\w@.-]{1,100}\.(?:service|socket|timer|mount) - )\S.{0,300}$/,
  ),
  rule(
    { name: 'fail-file', class: 'test', score: 82, use: 'test', on: 'line' },
    'fail|❌',
    /^(?:FAIL|FAILED|✗ FAIL|❌)\s{1,4}(?!.{0,40}\bfailed\b.{0,40}$)\S.{0,200}(?:>|›|::|#| - |\.spec|\.test|_test|test_)/,
  ),
  rule(
    { name: 'prove', class: 'test', score: 48, on: 'line' },
    '(wstat',
    /^\S{1,200} \(Wstat: [1-9]/,
  ),
  rule(
    { name: 'tap', class: 'test', score: 86, use: 'test', on: 'line' },
    'not ok ',
    /^not ok \d+ /,
  ),
  rule(
    { name: 'numbered', class: 'test', score: 80, use: 'test', on: 'line' },
    '#) ',
    /^\d{1,4}\) \S.{0,300}$/,
  ),
  rule(
    { name: 'surefire', class: 'test', score: 88, use: 'test', on: 'line' },
    '<<<|expected|:#',
    /<<< (?:FAILURE|ERROR)!|^\w+(?:\.\w+)?:\d+ expected:|^[\w.]{1,200}:\d+(?: »|->)/,
  ),
  rule(
    { name: 'gradle-test', class: 'test', score: 86, use: 'test', on: 'line' },
    ' failed',
    /^\S.{0,200} > \S.{0,200} FAILED$/,
  ),
  rule(
    { name: 'gtest', class: 'test', score: 86, use: 'test', on: 'line' },
    '[  failed|: failure',
    /^\[ {2}FAILED {2}\] \S{1,200}(?: \(|,|$)|^\S{1,200}:\d+: Failure$/,
  ),
  rule(
    { name: 'xunit', class: 'test', score: 84, use: 'test', on: 'line' },
    'fail|error|^x ',
    /^(?:\[xUnit.net .{1,20}\]\s{1,8})?(?:Failed |Error |X )\S{1,300} \[(?:FAIL|[<\d][^\]]{0,20})\]$|\s\[FAIL\]$/,
  ),
  rule(
    { name: 'unittest', class: 'test', score: 84, use: 'test', on: 'line' },
    'fail|error',
    /^(?:FAIL|ERROR): \w{1,200} \(\S{1,200}\)/,
  ),
  rule(
    { name: 'dots-failed', class: 'test', score: 66, use: 'test', on: 'line' },
    '... ',
    /^(?:test )?\S.{0,200} \.{3} (?:FAILED|FAIL|ERROR|failed)\b/,
  ),
  rule(
    { name: 'cross', class: 'test', score: 76, use: 'test', on: 'line' },
    '✗|✘|×|✖|☒|❌|✕|(fail)|[fail]',
    /^(?!.{0,200}(?:\.{3}|…)$)(?:✗|✘|×|✖|☒|❌|\(fail\)|\[fail\]:?|✕) \S.{0,300}$/i,
  ),
  rule(
    { name: 'phpunit', class: 'test', score: 84, use: 'test', on: 'line' },
    '#) ',
    /^\d{1,4}\) [\w\\]{1,200}::\w{1,200}/,
  ),
  rule(
    { name: 'bats', class: 'test', score: 80, use: 'test', on: 'line' },
    'in test file',
    /^\(in test file .{1,200}, line \d+\)/,
  ),
  rule(
    { name: 'expectation', class: 'test', score: 83 },
    'expect|assert|got|values are not',
    /^(?:Expected|expected)\b.{0,200}\b(?:but|to (?:be|equal|match|contain|have)|got|received|was)\b|^(?:expect\(|assert(?:ion)?\b.{0,80}(?:failed|==|!=)|got:? .{1,100}want)|: got .{1,200}, want |^Values are not equal/,
  ),
];
