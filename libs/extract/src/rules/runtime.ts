/** Programs that die: exceptions, crashes, signals, limits of the machine. */
import { rule } from './rule.ts';

const LAST = { pick: 'last' } as const;
const BODY_LAST = { on: 'body', pick: 'last' } as const;

/** Tried from top to bottom. */
export const RUNTIME = [
  rule(
    'out-of-memory',
    'memory',
    94,
    /heap out of memory|\b[Oo]ut of memory\b|\boom[- ]kill|Cannot allocate memory|\bMemoryError\b|OutOfMemoryError|std::bad_alloc|\bENOMEM\b|Killed process \d+|memory allocation of \d+ bytes failed/,
    LAST,
  ),
  rule(
    'killed',
    'killed',
    92,
    /(?:^|: |\s)(?:\d+ )?(?:Killed|Terminated|Hangup|Alarm clock)(?:\s{2,}\S|$|\s*\()|^Killed: 9|: Killed\b/,
    LAST,
  ),
  rule(
    'disk-full',
    'disk',
    94,
    /No space left on device|\bENOSPC\b|Disk quota exceeded|\bEDQUOT\b|not enough (?:free )?(?:disk )?space/i,
    LAST,
  ),
  rule(
    'crashed',
    'crash',
    90,
    /Segmentation fault|\bSIGSEGV\b|\bSIGABRT\b|\bcore dumped\b|\bBus error\b|Illegal instruction|(?:Address|Leak|Thread|Memory|UndefinedBehavior)Sanitizer|\bABEND\b|stack smashing|double free|glibc detected|Trace\/breakpoint trap|stack overflow|wasm trap:|memory fault|access violation|index out of bounds/i,
    LAST,
  ),
  rule('go-panic', 'crash', 93, /^(?:panic|fatal error): /, BODY_LAST),
  rule('elixir', 'exception', 91, /^\*\* \([\w.]{1,80}\) \S|^\*\* \(exit\)/, BODY_LAST),
  rule(
    'ruby-place',
    'exception',
    92,
    /^[^\s:]{1,240}:\d+:in [`'].{1,300} \((?:[A-Z]\w*(?:::)?){1,6}\)$/,
    BODY_LAST,
  ),
  rule(
    'uncaught',
    'exception',
    92,
    /^(?:Exception in thread ".{0,80}"|Unhandled exception[.:]|Uncaught|Fatal Python error:|terminate called after throwing|\[?UnhandledPromiseRejection|error: Uncaught|Unhandled Rejection|libc\+\+abi: terminating).{0,20}\S/,
    BODY_LAST,
  ),
  rule(
    'assertion',
    'test',
    89,
    /^(?:AssertionError|Assertion ?(?:Failed|Failure)?\w*|assertion `.{1,80}` failed|Assertion with .{1,20} failed|AssertionFailedError|Failed asserting that|Failure\/Error:|.{0,120}: Assertion `.{1,200}' failed|XCTAssert\w+ failed|(?:[\w$.]{1,120}\.)?(?:AssertionFailedError|AssertionError|ComparisonFailure|ExpectationNotMetError|AssertFailedException)\b)/,
    LAST,
  ),
  rule(
    'exception',
    'exception',
    86,
    /^(?:[A-Za-z_$][\w$]{0,80}(?:\.|::|\\)){0,12}[A-Z][A-Za-z0-9_$]{0,80}(?:Error|Exception|Failure|Fault|Interrupt|Timeout|Violation|NotFound|Denied|DoesNotExist)\d?(?: \[\w{1,60}\])?(?: \([^)\n]{0,120}\))?: ?\S/,
    LAST,
  ),
  rule(
    'exception-inner',
    'exception',
    85,
    /^[^\s:][^:]{0,80}: (?:[^:]{1,80}: )?(?:[\w.]{1,120}\.)?[A-Z][A-Za-z]{1,60}(?:Error|Exception): \S/,
    LAST,
  ),
  rule(
    'exception-bare',
    'exception',
    70,
    /^(?:[A-Za-z_$][\w$]{0,80}(?:\.|::|\\)){0,12}[A-Z][A-Za-z0-9_$]{0,80}(?:Error|Exception)(?: \[\w{1,60}\])?$/,
    LAST,
  ),
  rule(
    'aggregate-cause',
    'exception',
    80,
    /^(?:(?:\[cause\]|[Cc]aused by|Root cause)[: ]\s?\S|---> [\w.]{1,120}(?:Exception|Error)\b)/,
    LAST,
  ),
  // Perl warns and dies in the same words.
  rule(
    'perl',
    'exception',
    74,
    /^(?=.{0,600}(?:[Cc]an't|[Cc]annot|[Cc]ould not|[Uu]nable|\bnot\b|[Nn]o such|[Dd]ied|[Uu]ndefined|[Ii]nvalid|[Uu]nknown|[Mm]issing|[Ee]xpected|[Ff]ail|[Ii]llegal|syntax|rror:)).{0,800}\S at \S{1,200} line \d+(?:, <\w+> line \d+)?\.$/,
    LAST,
  ),
  rule('perl-place', 'exception', 56, /\S at \S{1,200} line \d+(?:, <\w+> line \d+)?\.$/, LAST),
  rule(
    'json-error',
    'exception',
    84,
    /^\{.{0,400}"(?:level|severity|lvl|levelname|log\.level)" ?: ?(?:"(?:error|fatal|critical|emerg\w*|alert|panic|err|severe)"|[56]0\b)/i,
    LAST,
  ),
  rule(
    'julia',
    'exception',
    88,
    /^(?:LoadError|UndefVarError|MethodError|ArgumentError|BoundsError): \S/,
    LAST,
  ),
  rule('r-error', 'exception', 86, /^Error in .{1,200} ?: ?\S/, { on: 'body', pick: 'last' }),
  rule(
    'lua',
    'exception',
    88,
    /^(?:lua\S{0,8}|luajit|nginx|python\d?|perl|ruby|node|php|bash|sh|zsh): \S{1,200}:\d+: \S/,
    BODY_LAST,
  ),
  rule(
    'erlang',
    'crash',
    86,
    /^(?:\{"init terminating in do_boot"|init terminating in|Runtime terminating during boot|Kernel pid terminated|escript: exception)/,
    BODY_LAST,
  ),
];
