/** Lines that only report that something failed, or count failures. */
import { rule } from './rule.ts';

/** Consequences: shown only when nothing in the log says why. Tried before every other rule. */
export const WRAPPERS = [
  rule(
    { name: 'make-no-rule', class: 'command', score: 92, on: 'body' },
    /\*\*\* (?:\[[^\]]{0,200}\] )?(?:No rule to make target|missing separator|commands commence|multiple target|\S{1,200}: (?:No such file|Command not found))|^\S{0,200}Makefile:\d+: \*\*\* /i,
  ),
  // A program could not be started; systemd's status names the step.
  rule(
    { name: 'not-executed', class: 'command', score: 70, on: 'line', pick: 'last' },
    /\bstatus=(?:12[67]|2\d\d)\/\S/,
    /\b(?:exit(?:ed)?(?: with)?(?: code| status)?|code|status|returned|Error)[:= ]{1,3}\(?127\b/i,
  ),
  // What another program, a hook or a step of the build has said above.
  rule(
    { name: 'passes-on', class: 'exit', score: 30, use: 'wrapper', on: 'line', pick: 'last' },
    /^(?:\S{0,20}make(?:\[\d+\])?|mingw32-make|ninja|samu|gmake(?:\[\d+\])?): (?:\*\*\*|build stopped|error: loading 'build\.ninja'|Target .{0,200} not remade)/,
    /^fatal: Could not read from remote repository\.?$|\(?(?:hook declined|pre-receive hook declined)\)?|error: failed to push some refs|; see the (?:compiler|above|log|output)\b|\bsee (?:above|(?:the )?(?:output|log|errors?)(?: above| file)?)[.!]?$|\b[Ss]ee (?:(?:the )?inner exception|previous errors?|(?:the )?logs? for|"systemctl status)|\berrors? occurred while (?:running|executing) [\w ]{1,40}$|\bErrors?(?:\(s\))? found in (?:the )?config\w*|\b(?:terminée?s?|beendet|terminad[oa]|terminat[oa]|avslutades|zakończon[oya])\b.{0,60}\b(?:code|status|statut|état|código|codice|Code|Status|kod)\b.{0,4}[1-9]/,
    /^(?:npm (?:error|ERR!)) {1,4}(?:To see a list of scripts|code \w+$|errno|path|command|location|workspace|Lifecycle script|A complete log|Exit status|Failed at the|This is probably not|in workspace|spawn$|syscall|dest |file |signal$|For a full report|Usage:|Options:|Aliases:|Run "npm|Clean install|Fix the upstream|to accept an incorrect|this command with --force|\[(?!Error: E)|npm (?:ci|install|run)\b|aliases:|.{0,80}debug-0\.log|.{0,80}eresolve-report|node -v|cwd|\S+@\S+ \w+: `)/,
    /Execution failed for task|^FAILURE: Build failed|^BUILD FAILED|^BUILD FAILURE|^\[INFO\] BUILD FAILURE|^Failed to .{1,300} \(in [\d.,]+ m?s\)\.?$|\bThe (?:compilation|installation|build) of .{1,200} failed\b|\bFailed to precompile \S|\bbuild failed(?:[.!]?$|,| with \d| in \d| \(|: exit )|^error: (?:test failed|could not compile|aborting due to|process didn't exit successfully|build failed|command .{0,80}failed)|^error: \d+ target|^(?:error: )?\w{3,20} failed while processing \S|^\*\* \(Mix\) (?:Could not compile|Can't continue due to errors)|\bELSPROBLEMS\b|^(?:ELIFECYCLE|ERR_PNPM_RECURSIVE_\w{1,40})\s/i,
    /^Error: failed linting charts: |^Could not create Makefile due to some reason|\bUnable to (?:determine Dialect without JDBC metadata|create requested service \[)|^Jest (?:failed to parse a file|encountered an unexpected token)|^[A-Z]{4,8}: +Traceback \(|^panic: \(\*|\bNo test report files were found|collect2: error|clang(?:\+\+)?: error: linker command failed|cc1(?:plus)?: (?:all|some) warnings being treated|compilation (?:terminated|aborted|failed)|(?:tar|rsync): (?:Exiting with|Error is not recoverable)|rsync error: .{0,80}\(code|xargs: .{0,80}exited with status|BEGIN failed--|Execution halted|Errors? parsing [\w ]{1,30}$|cannot find symbol class$/i,
    /returned a non-zero code: (?!137)|did not complete successfully: exit code: (?!137)|^Service '.{1,80}' failed to build/,
    /^(?:\| )?(?:\w+\.)*(?:Base)?ExceptionGroup: .{0,300}\(\d+ sub-exceptions?\)$/,
    /\bat=error code=[A-Z]\d\d |^State changed from \w+ to crashed$|\b[Ww]orker(?: \S{1,40})? failed to (?:boot|start)\b/,
  ),
  // Which step failed, or where to read on, not why.
  rule(
    { name: 'step-failed', class: 'exit', score: 30, use: 'wrapper', on: 'body', pick: 'last' },
    /^\W{0,6}(?:step|task|stage|job|phase|hook|unit|service|container|pipeline|build|release|deploy(?:ment)?)\b[^:]{0,80}\b(?:failed|FAILED)\b(?: (?:after|in|with|at) .{1,60}|\s?\(.{1,60})?[.!]?$|^Failed to start .{1,120}(?:\.| - .{1,80})$|^\S{1,80}\.(?:service|socket|timer): (?:Failed with result|Main process exited(?!, code=killed, status=9)|Control process exited|Start request repeated)/i,
    /^(?:To see the full stack trace|\(Use `node --trace|Re-run Maven|For more information|See (?:also|the) |\[Help \d+\]|\(?See full trace|A full log can be found|Run with --(?:debug|verbose|stacktrace)|The build could not read|.{0,80}(?:did not exit normally|check the logs? (?:at|in|for)\b))/i,
  ),
  rule(
    { name: 'counts', class: 'exit', score: 24, use: 'wrapper', on: 'line', pick: 'last' },
    /^(?:Failed|Passed): \d+ \w+|^\W{0,4}\d+ \w+ with errors$|^\W{0,4}(?:Found )?\d+ (?:errors?|problems?|warnings?|failures?|failed|failing|fail|vulnerabilit)\b[^'"`]{0,60}$|^\W{0,4}\d+ problems? \(|^(?:Tests?|Test Suites|Test Files|Suites|Tasks|Snapshots):? .{0,80}(?:failed|fail)|^(?:Tests run|Total tests|Ran \d+|FAILED \(|Failed!(?! =>)|Failures?:? \d|FAILURES!$|Tests: \d|ERRORS!$)|^\d+ (?:examples|tests|runs|specs|passing|passed|scenarios|steps),? |^test result: FAILED|^={3,} .{0,60}\b(?:failed|error)s?\b.{0,60} ={3,}$|^Results?: .{0,60}fail|^# fail \d|^not ok \d+ - \S+\.(?:js|ts|mjs|cjs)$|^FAIL(?:ED)?$|^\[ERROR\] Found \d+ errors?$|^Error: \d+ chart\(s\) linted|^!+ Interrupted: \d+ errors? |^(?:\d+%|\d+ of) .{0,30}tests? (?:passed|failed)|^The following tests FAILED|generated \d+ warnings?|compiled with \d+ error|^ThreadSanitizer: reported \d|^\[?\d\d:\d\d \+\d+(?: ~\d+)? -\d+: Some tests failed/i,
    /^FAIL\s+[\w./-]{1,200}(?:\s+[\d.]+s|\s+\[build failed\]|\s+\(cached\))?$/,
  ),
  // From a program that waited for another one that did not come up.
  rule(
    { name: 'waited', class: 'timeout', score: 50, on: 'body', pick: 'last' },
    /exceeded its progress deadline|timed out waiting for the condition|^(?:Error: )?(?:UPGRADE|INSTALLATION) FAILED: .{0,200}(?:deadline exceeded|timed out|not ready)|\bcontainer\b.{0,80} is unhealthy\b|^dependency failed to start: |no known healthy instances|upstream prematurely closed connection|connection not available and request was dropped|^curl: \(\d+\) Failed to connect to (?:localhost|127\.)|^[✘✖] Container \S+ +Error\b/,
  ),
  rule(
    { name: 'exit-killed', class: 'killed', score: 74, on: 'body', pick: 'last' },
    /^(?=.*?(?:137|-9|signal|kill))(?!.{0,1000}out of memory).{0,1000}(?:\b(?:exit(?:ed)?(?: with)? (?:code|status)|code|status|returned)[:= ]{1,3}(?:137|-9)\b|signal: ?(?:killed|9)\b|signal (?:9|SIGKILL)|\bSIGKILL\b|code=killed, status=9\b|OOMKilled|exited with code 137)/i,
  ),
  rule(
    { name: 'exit-status', class: 'exit', score: 30, use: 'wrapper', on: 'line', pick: 'last' },
    /^(?=.*(?:with|code|status|zero))(?!.{0,200}(?:\bstatus(?: code)?:? [345]\d\d\b|'code': )).{0,300}\b(?:exit(?:ed|s|ing)?|returned(?! from)|terminated|failed|finished|ended|completed)\b.{0,40}(?:with\b|code|status|non-?zero)[^\n]{0,20}\b(?:[1-9]\d{0,2}|-\d+|0x[0-9a-f]+|non-?zero|failure)\b|^exit status [1-9]|^Process completed with exit code|\bexit code:? [1-9]|exit-code'|\(exit (?:code |status )?[1-9]\d*\)|control process exited|Main process exited|status=\d+\/(?!SUCCESS)|script returned exit code|non-zero (?:exit )?(?:status|code)|^\S{0,60}\s?exited \(\d+\)|(?<!\()\bexited [1-9]\d{0,2}\b|\b(?:exit(?:ed|ing|s)?|returned|quit|rc|ret|\b(?:job|step|task|stage|script|command|process|hook|unit|service|build|deploy|check)s? (?:\S{1,40} )?failed)[ =:]{1,2}\(?(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\)?[.,;!]?$/i,
    /^(?:-+>? ?|=+>? ?)?(?:aborting(?: \w+){0,3}|aborted|stopping|terminated|giving up|bailing out|aborted (?:due to|with) .{1,60}|rolling back|step failed|deploy(?:ment)? failed|release failed|exiting)\W{0,3}$|^(?:error: )?(?:command|task|step|job|stage|script|build|deploy(?:ment)?|install(?:ation)?|pipeline|update|upload|tests?|checks?|compilation|run) (?:has |was )?(?:failed|aborted|cancelled)[.!]?$|^For more details|Automatic merge failed|Configuring incomplete|could not be built|Failed to build gem native|Failed building wheel|Could not build wheels|error occurred while installing|subprocess-exited-with-error|^Stack failed to execute|\breturn code was [1-9]|\(errors have been logged\)|some errors? (?:occurred|were)|(?:document|file) has errors|fatal parse error$|errors? occurred!?$|Some files? could not|^(?:Error: )?Command failed:/i,
  ),
];
