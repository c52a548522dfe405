/** Programs that die: exceptions, crashes, signals, limits of the machine. */
import { rule } from './rule.ts';

/** Tried from top to bottom. */
export const RUNTIME = [
  rule(
    { name: 'out-of-memory', class: 'memory', score: 94, pick: 'last' },
    /heap out of memory|\b[Oo]ut of memory\b|\b(?:oom|OOM)[- ]kill|Cannot allocate memory|\bMemoryError\b|(?<!\bOn|DumpOn|ExitOn|CrashOn)OutOfMemoryError|std::bad_alloc|\bENOMEM\b|Killed process \d+|memory allocation of \d+ bytes failed/,
  ),
  rule(
    { name: 'killed', class: 'killed', score: 92, pick: 'last' },
    /(?:^|: |\s)(?:\d+ )?(?:Killed|Terminated|Hangup|Alarm clock)(?:\s{2,}\S|$|\s*\()|^Killed: 9|: Killed\b/,
  ),
  rule(
    { name: 'disk-full', class: 'disk', score: 94, pick: 'last' },
    /No space left on device|\bENOSPC\b|Disk quota exceeded|\bEDQUOT\b|not enough (?:free )?(?:disk )?space/i,
  ),
  rule(
    { name: 'crashed', class: 'crash', score: 90, pick: 'last' },
    /\bDATA RACE$|\brequires a CPU with\b|Segmentation fault|\bSIGSEGV\b|\bSIGABRT\b|\bcore dumped\b(?!\?)|\bBus error\b|Illegal instruction|(?:Address|Leak|Thread|Memory|UndefinedBehavior)Sanitizer|\bABEND\b|stack smashing|double free|glibc detected|Trace\/breakpoint trap|stack overflow|wasm trap:|memory fault|access violation|index out of bounds/i,
  ),
  rule(
    { name: 'panic', class: 'crash', score: 93, on: 'body', pick: 'last' },
    /^(?:panic|fatal error): /,
    /^exception (?:exit|error|throw): \S/,
  ),
  rule(
    { name: 'uncaught', class: 'exception', score: 91, on: 'body', pick: 'last' },
    /^(?:Exception in thread ".{0,80}"|Unhandled exception[.:]|Uncaught|Fatal Python error:|terminate called after throwing|\[?UnhandledPromiseRejection|error: Uncaught|Unhandled Rejection|libc\+\+abi: terminating).{0,20}\S/,
    /^\*\* \([\w.]{1,80}\) \S|^\*\* \(exit\)/,
    /^[^\s:]{1,240}:\d+:in [`'].{1,300} \((?:[A-Z]\w*(?:::)?){1,6}\)$/,
    /^(?:no main manifest attribute, in |Error: (?:Could not find or load main class|Unable to access jarfile) )/,
  ),
  rule(
    { name: 'assertion', class: 'test', score: 89, pick: 'last' },
    /^(?:AssertionError|Assertion ?(?:Failed|Failure)?\w*|assertion `.{1,80}` failed|Assertion with .{1,20} failed|AssertionFailedError|Failed asserting that|Failure\/Error:|.{0,120}: Assertion `.{1,200}' failed|XCTAssert\w+ failed|(?:[\w$.]{1,120}\.)?(?:AssertionFailedError|AssertionError|ComparisonFailure|ExpectationNotMetError|AssertFailedException)\b)/,
  ),
  rule(
    { name: 'exception', class: 'exception', score: 86, pick: 'last' },
    /^(?:[A-Za-z_$][\w$]{0,80}(?:\.|::|\\)){0,12}[A-Z][A-Za-z0-9_$]{0,80}(?:Error|Exception|Failure|Fault|Interrupt|Timeout|Violation|NotFound|Denied|DoesNotExist)\d?(?: \[\w{1,60}\])?(?: \([^)\n]{0,120}\))?: ?\S/,
    /^(?:(?:\[cause\]|[Cc]aused by|Root cause)[: ]\s?\S|---> [\w.]{1,120}(?:Exception|Error)\b)/,
    /^Error in .{1,200} ?: ?\S/,
  ),
];
