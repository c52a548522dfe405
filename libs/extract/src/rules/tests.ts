/** Lines that name a failing test, in every runner's way. */
import { rule } from './rule.ts';

const CAUSE = { on: 'line' } as const;
const TEST = { use: 'test', on: 'line' } as const;

/** Tried from top to bottom. */
export const TESTS = [
  rule(
    'style-issues',
    'lint',
    99,
    /\bCode style issues? (?:were )?found\b|^\d{1,5} files? would be reformatted\b/i,
  ),
  rule(
    'coverage',
    'test',
    88,
    /\bcoverage\b.{1,120}\b(?:not met|below|less than|under)\b|\bcoverage (?:threshold|failure)\b/i,
  ),
  rule('table-fail', 'test', 84, /\| FAIL \|$/, TEST),
  rule('expected-block', 'test', 87, /^(?:\[FAILED\] )?Expected:?$/, CAUSE),
  rule(
    'named-failed',
    'test',
    83,
    /^(?![>\d])(?!.{0,200}(?:\b(?:task|build|target|tests?|step|job|compilation|run)|\d) FAILED$)\S.{0,200} FAILED$/,
    TEST,
  ),
  rule('pytest-summary', 'test', 94, /^(?:FAILED|ERROR) \S{1,300}(?:::| - )\S/, TEST),
  rule('pytest-detail', 'test', 90, /^E {3}\s{0,8}\S/, { on: 'body', pick: 'first' }),
  rule('ctest', 'test', 84, /^\d+\/\d+ Test +#\d+: .{1,120}\*\*\*/, TEST),
  rule('go-test', 'test', 84, /^--- FAIL: \S/, TEST),
  rule('rust-test', 'test', 80, /^---- .{1,200} stdout ----$/, TEST),
  rule('bullet', 'test', 86, /^● (?!Console)\S.{0,300}$/, TEST),
  rule(
    'fail-file',
    'test',
    82,
    /^(?:FAIL|FAILED|✗ FAIL|❌)\s{1,4}(?!.{0,40}\bfailed\b.{0,40}$)\S.{0,200}(?:>|›|::|#| - |\.spec|\.test|_test|test_)/,
    TEST,
  ),
  rule('prove', 'test', 48, /^\S{1,200} \(Wstat: [1-9]/, CAUSE),
  rule('tap', 'test', 86, /^not ok \d+ /, TEST),
  rule('numbered', 'test', 80, /^\d{1,4}\) \S.{0,300}$/, TEST),
  rule(
    'surefire',
    'test',
    88,
    /<<< (?:FAILURE|ERROR)!|^\w+(?:\.\w+)?:\d+ expected:|^[\w.]{1,200}:\d+(?: »|->)/,
    TEST,
  ),
  rule('gradle-test', 'test', 86, /^\S.{0,200} > \S.{0,200} FAILED$/, TEST),
  rule(
    'gtest',
    'test',
    86,
    /^\[ {2}FAILED {2}\] \S{1,200}(?: \(|,|$)|^\S{1,200}:\d+: Failure$/,
    TEST,
  ),
  rule(
    'xunit',
    'test',
    84,
    /^(?:\[xUnit.net .{1,20}\]\s{1,8})?(?:Failed |Error |X )\S{1,300} \[(?:FAIL|[<\d][^\]]{0,20})\]$|\s\[FAIL\]$/,
    TEST,
  ),
  rule('unittest', 'test', 84, /^(?:FAIL|ERROR): \w{1,200} \(\S{1,200}\)/, TEST),
  rule(
    'dots-failed',
    'test',
    78,
    /^(?:test )?\S.{0,200} \.{3} (?:FAILED|FAIL|ERROR|failed)\b/,
    TEST,
  ),
  rule(
    'cross',
    'test',
    76,
    /^(?!.{0,200}(?:\.{3}|…)$)(?:✗|✘|×|✖|☒|❌|\(fail\)|\[fail\]:?|✕) \S.{0,300}$/i,
    TEST,
  ),
  rule('phpunit', 'test', 84, /^\d{1,4}\) [\w\\]{1,200}::\w{1,200}/, TEST),
  rule('bats', 'test', 80, /^\(in test file .{1,200}, line \d+\)/, TEST),
  rule(
    'expectation',
    'test',
    83,
    /^(?:Expected|expected)\b.{0,200}\b(?:but|to (?:be|equal|match|contain|have)|got|received|was)\b|^(?:expect\(|assert(?:ion)?\b.{0,80}(?:failed|==|!=)|got:? .{1,100}want)|: got .{1,200}, want |^Values are not equal/,
    { pick: 'first' },
  ),
];
