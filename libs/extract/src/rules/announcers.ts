/** Lines that announce a failure: the message is on the next line. */

import { rule, SOURCE } from './rule.ts';

/** Heads whose message stands on the next line. */
export const ANNOUNCERS = [
  rule(
    { name: 'during', class: 'compile', score: 84, use: 'announce', on: 'line' },
    /^(?:Failed to compile|Error occurred prerendering|error during build|error during \w+|Unhandled exception|Uncaught(?: exception)?|Unhandled rejection|Build error occurred|rake aborted!|bin\/rails aborted!|\S{1,40} aborted!|Fatal error|An unhandled exception occurred|Module build failed|The conflict is caused by|There (?:was|were) \d+ (?:failures?|errors?)|Compilation error|.{0,4}Build failed|.{0,4}Parse error|The following .{1,80} was thrown .{1,80}|.{0,30}the following (?:errors?|problems?|issues).{0,40}|An error has occurred.{0,80})\W{0,3}$/i,
    /^\* What went wrong:|^> A failure occurred|^> A problem occurred/,
    /^-{2} [A-Z][A-Z ]{2,60} -{2,}/,
    new RegExp(
      `^(?:\\[\\d+\\] |\\d+[.)] )(?:\\.{0,2}/)?[^\\s:]{1,240}\\.${SOURCE}:\\d+:\\d+(?: at \\S{1,200})?$`,
    ),
  ),
  rule(
    { name: 'label-alone', class: 'error', score: 86, use: 'announce', on: 'body' },
    /^(?:\* error|Errors?|Error message|Message|Exception|Problem \d+|\d+\) (?:Failure|Error)|Failed validating.{0,60}|Error details|Reason|Failure reason|Description|Message from \S{1,60}):$/i,
    /^(?:[A-Za-z_$][\w$]{0,80}(?:\.|::|\\)){0,12}[A-Z]\w{0,80}(?:Error|Exception|NotFound|Failure|Denied|Conflict):$/,
  ),
  rule(
    { name: 'panicked', class: 'crash', score: 90, use: 'announce', on: 'line' },
    /^thread '.{1,200}' (?:\(\d+\) )?panicked at .{1,200}:$/,
  ),
  // A few words about a failure that name nothing and end in a colon.
  rule(
    { name: 'headline', class: 'error', score: 78, use: 'announce' },
    /^(?=[\s\S]*:$)(?!To [a-z]+ |.{0,60}\btrace:|.{0,60}(?:command|step|task|target|test|job|build|action)s? failed:)(?:[^"'`\d/.=()]{0,120}\b(?:errors?|fail(?:ed|ures?|s)?|problems?|exceptions?|reason|cause|issues?|invalid|conflicts?|violations?|unable|cannot|could not)\b[^"'`\d/.=()]{0,60}|.{1,80}[.:] (?:Errors?|Reasons?|Causes?|Problems?)|.{1,160}\b(?:due to|because of|with) (?:the )?(?:\w+ ){0,2}(?:errors?|reasons?|problems?|issues?)|[\w ]{3,60} (?:detected|violated)|.{1,160}\b(?:failed|error|rejected) with (?:the )?(?:following )?(?:message|reason|error|output)s?):$/i,
  ),
];
