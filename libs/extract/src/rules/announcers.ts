/** Lines that announce a failure: the next line tells it. */

import { SOURCE } from './code.ts';
import { rule } from './rule.ts';

const ANNOUNCE = { use: 'announce', on: 'line' } as const;

/** Heads whose message stands on the next line. */
export const ANNOUNCERS = [
  rule('problems', 'config', 86, 'problems were', /^Some problems were encountered .{0,80}:$/, {
    use: 'announce',
    on: 'body',
  }),
  rule('console-box', 'exception', 88, '.php line #', /^In \S{1,120}\.php line \d+:$/, ANNOUNCE),
  rule('cmake', 'config', 88, 'cmake error', /^CMake Error/, ANNOUNCE),
  rule(
    'webpack',
    'module',
    90,
    'error in ',
    /^(?:ERROR|Error) in \.{0,2}\/?[\w./@+-]{1,200}(?: \d+:\d+(?:-\d+)?)?$/,
    ANNOUNCE,
  ),
  rule(
    'gradle',
    'compile',
    82,
    'what went wrong|> a failure|> a problem',
    /^\* What went wrong:|^> A failure occurred|^> A problem occurred/,
    ANNOUNCE,
  ),
  rule(
    'during',
    'compile',
    84,
    'fail|error|exception|uncaught|rejection|abort|conflict is caused|was thrown|the following problem|the following issue',
    /^(?:Failed to compile|Error occurred prerendering|error during build|error during \w+|Unhandled exception|Uncaught(?: exception)?|Unhandled rejection|Build error occurred|rake aborted!|bin\/rails aborted!|\S{1,40} aborted!|Fatal error|An unhandled exception occurred|Module build failed|The conflict is caused by|There (?:was|were) \d+ (?:failures?|errors?)|Compilation error|.{0,4}Build failed|.{0,4}Parse error|The following .{1,80} was thrown .{1,80}|.{0,30}the following (?:errors?|problems?|issues).{0,40}|An error has occurred.{0,80})\W{0,3}$/i,
    ANNOUNCE,
  ),
  rule(
    'label-alone',
    'error',
    84,
    'error|exception|fail|message:|message from|reason:|description:|problem #',
    /^(?:\* error|Errors?|Error message|Message|Exception|Problem \d+|\d+\) (?:Failure|Error)|Failed validating.{0,60}|Error details|Reason|Failure reason|Description|Message from \S{1,60}):$/i,
    { use: 'announce', on: 'body' },
  ),
  rule(
    'several',
    'error',
    84,
    'errors occurred:|error occurred:',
    /(?:^|: )\d+ errors? occurred:$/,
    { use: 'announce' },
  ),
  rule(
    'panicked',
    'crash',
    90,
    'panicked',
    /^thread '.{1,200}' (?:\(\d+\) )?panicked at .{1,200}:$/,
    ANNOUNCE,
  ),
  rule('apache', 'config', 88, 'ah#####', /^AH\d{5}: .{0,300}:$/, ANNOUNCE),
  rule(
    'exception-head',
    'exception',
    88,
    'error:|exception:',
    /^(?:[A-Za-z_$][\w$]{0,80}(?:\.|::|\\)){0,12}[A-Z]\w{0,80}(?:Error|Exception):$/,
    {
      use: 'announce',
      on: 'body',
    },
  ),
  rule(
    'place-heading',
    'lint',
    84,
    ':#',
    new RegExp(
      `^(?:\\[\\d+\\] |\\d+[.)] )(?:\\.{0,2}/)?[^\\s:]{1,240}\\.${SOURCE}:\\d+:\\d+(?: at \\S{1,200})?$`,
    ),
    ANNOUNCE,
  ),
  rule('titled', 'compile', 86, '-- ', /^-{2} [A-Z][A-Z ]{2,60} -{2,}/, ANNOUNCE),
  rule(
    'located-label',
    'compile',
    92,
    'error',
    /^[^\s:]{1,200}:\d+:\d+: (?:error|Error|fatal error):? ?(?:\[[\w-]{1,20}\])?$/,
    ANNOUNCE,
  ),
  rule(
    'no-solution',
    'package',
    88,
    'no solution|not be resolved|could not resolve',
    /No solution found when|could not be resolved to an installable set|^(?:> )?Could not resolve all (?:files|dependencies|artifacts) for|^Could not resolve dependenc(?:y|ies):$/,
    { use: 'announce' },
  ),
  rule(
    'empty-label',
    'error',
    74,
    'error|fatal|fail',
    /^(?:\[?(?:ERROR|error|Error|FATAL|fatal|Fatal|FAILED)\]?(?: (?!Expected)\w+){0,4}):? ?(?:\[[\w-]{1,20}\])?:?$/,
    ANNOUNCE,
  ),
];
