/** Recognises lines that are not errors: progress, passing tests, code, stack frames, places, steps. */

/** By what a line is that is no cause itself. */
export const marks = {
  /** A test or a step that went well. */
  passing:
    /^(?:[0-9a-f]{12}: (?:Already exists|Pull complete|Layer already exists)|not ok \d.{0,200} # (?:TODO|SKIP)\b|(?:\S{1,80} \| )?(?:CHANGED|SUCCESS|SKIPPED)\b => |(?:ok|changed|skipping|included): \[|# +Failed \(TODO\)|[✓✔√☑✅]|=== (?:RUN|PAUSE|CONT|NAME)|ok \d+|Passed \S.{0,200} \[|PASS(?:ED)?\b|--- (?:PASS|SKIP)|\[ {1,6}(?:OK|PASSED|RUN) {1,6}\]|\[-{4,}\]|\(pass\))|\b(?:PASSED|passed)(?: {2,}\[ *\d+%\]| \(\d|$)|(?:\.\.|…) ?(?:ok|OK|done|yes|passed|PASS|skipped|success|created)(?: \(.{0,30}\))?$|^\S.{0,200} (?:PASSED|\[PASS\]|PASSED \(.{0,20}\))$|\| PASS \|$|^test .{1,200} \.\.\. (?:ok|ignored)/,
  /** A report of progress: verbs whose objects may be called `error-page.js`. */
  progress:
    /^(?:\W{0,6}\d{0,6}\W{0,6})(?:removed?|removing|copied|copying|created?|creating|compiled?|compiling|generat(?:ed|ing)|delet(?:ed|ing)|moved|added|adding|install(?:ed|ing)|building|built|unpack(?:ed|ing)|fetch(?:ed|ing)|download(?:ed|ing)|mapped|bundl(?:ed|ing)|emitt(?:ed|ing)|render(?:ed|ing)|process(?:ed|ing)|writ(?:ing|ten)|wrote|touch|cp|mv|rm|mkdir|ln|ls|cat|gcc|g\+\+|cc|c\+\+|clang(?:\+\+)?|rustc|javac|ar|ranlib|install|uploading|uploaded|linking|linked|scanning|checking|checked|resolving|resolved|extracting|extracted|inflating|updat(?:ed|ing)|restor(?:ed|ing)|restore|registered|loaded|loading|migrat(?:ed|ing)|started|starting|listening|running|transform(?:ed|ing)|selecting|preparing|setting up|get|hit|ign|asset|dist|import|export|return|const|let|var|function|def|class|if|for|raise|throw)\b(?! ?:)/i,
  /** A line that says there were no errors, or that only names them. */
  saysNone:
    /\b(?:0|no|zero) (?:\w+ )?(?:errors?|failures?|failed|failing|problems?|issues?|vulnerabilities|mismatches|conflicts)\b|\b(?:errors?|failures?|failed|Failed)["']?\s?[:=]\s?["']?(?:0|null|none|false|\[\])\b|without (?:any )?(?:errors?|failures?|problems)|(?:No|no) (?:syntax )?errors? (?:detected|found)|\ballow[_-]?fail|error[_-]?handler|--fail-fast|on[_-]error|exit code 0|status 0\b/,
  /** A failure that its own line plays down. */
  harmless:
    /^(?:[\w.-]{1,40}: )?(?:could not|cannot|can't|unable to|failed to) (?:delete|remove|unlink|clean up)\b|(?:^|\s)\((?:expected|ignored|non-fatal|optional)\b[^)]{0,40}\)|\bignor(?:ed|ing)\b(?! the following)|\bnon-fatal\b|\bwill (?:be )?(?:retr|ignor|skip)|\bretrying\b|\bcache (?:is )?not found\b|\bskipp(?:ed|ing)\b|(?<!before )\bcontinuing\b|\bfall(?:ing|s)? back\b|\bsimulated\b|\bexpected failure\b|\bnot (?:fatal|critical)\b|\breverting to (?:the )?default|^invalid record length at |^database system was not properly shut down|is not empty, will attempt to perform|differs from the packaged version|and an update of this package was not requested/i,
  /** A line that says that the failure above it does not count. */
  tolerating:
    /^--- PASS: |^\W{0,6}(?:\w[\w.-]{0,30}: )?(?:(?:ignor|continu|skipp|proceed|fall)(?:ing|ed)\b|retrying\b|trying again\b|will (?:retry|try again)|using (?:the )?(?:default|fallback)|(?:this|that) is (?:ok|fine|harmless|not fatal))|[,;:(] ?(?:ignoring|continuing|skipping|falling back|retrying|will retry)\b/i,
  /** A command that a shell or a builder echoes, a commit as `git log --oneline` names it, a page. */
  echo: /^(?:[\w.-]{1,40}@[\w.-]{1,60}:[^\s$#]{0,120}[$#] \S|\++ (?!.{0,200}\.{4,80} )\S|(?:echo|printf) ["'$-]|[0-9a-f]{7,12} [A-Z][a-z]|(?:> )?\[[^\]]{0,80}\d+\/\d+\] (?:RUN|COPY|ADD) |https?:\/\/\S+$)/,
  /** A row of a code frame: a numbered source line or the mark under it. */
  code: /^(?:>? ?\d{1,6} ?[|│┃]|[|│╷╵╭╰┌└├][ \t]|[|│╷╵]$|\d{1,6} [│|]|[~^]+$|[~^_ -]*[~^]{1,}[~^_ -]*$|LL \||> \d{1,6} ?\||::: )/,
  /** A row of a stack trace. */
  frame:
    /^(?:at (?:async |new |Object\.|[\w$.<>[\] /]{1,200} ?\(|\S{1,300}:\d+|file:|\S{1,200}\.)|from \S{1,300}:\d+|File "[^"]{1,300}", line \d+|[^\s:]{1,240}:\d{1,6}:in [`'][^'`]{1,160}'$|(?:while (?:executing|evaluating)|invoked from within|\((?:procedure|file) ".{1,200}" line \d+\))$|#\d{1,3} +\S|\d{1,3}: +(?:0x|\S{1,200}::)|\.\.\. \d{1,4} (?:more|lines)|\.{3} \d+ lines matching|… while |in \S{1,200} at \S|[\w/.~-]{1,240}:\d+ \(\w{1,80}\)|goroutine \d+|\S{1,200}:\d+:\d+: 0x[\da-f]+ in |\S{1,200}\.go:\d+ \+0x|\(\S{1,200}\) \S{1,200}:\d+: |[\w$.<>]{1,100} \(\S{1,200}:\d+:\d+\)$|\[\d{1,3}\] \S{1,200} \/|- \/\S{1,240}$|@ \S{1,200}:\d+|\d{1,3}: \(\(?|\S{1,80} at line \d+(?: column \d+)?$)/,
  /** A stack frame or place in somebody else's code. */
  foreign:
    /node:|node_modules|\(eval|libsanitizer|\/lib(?:64)?\/python\d|\binternal\/|site-packages|dist-packages|\/usr\/(?:lib|share|local\/lib|include)\/|<frozen |<anonymous>\)?$|\b(?:java|javax|jdk|sun|kotlin|scala|clojure|groovy)\.|\borg\.(?:springframework|junit|apache|gradle|hibernate|codehaus|testng|mockito|eclipse)\.|\/gems\/|\/rubies\/|\/vendor\/|\.cargo\/registry|\/rustc\/|\bruntime\/|\b(?:System|Microsoft|Xunit|NUnit)\.|native code|Native Method|\.pnpm|libc\.so|\/go\/src\/|lib\/elixir|\(elixir|\(stdlib|\(ex_unit|\(mix|file:\/\/\/.{0,200}node_modules|ext:/,
  /** A row that introduces a deeper cause. */
  cause:
    /^(?:\[cause\]:|\[errors\]:|[Cc]aused by: ?\S|---> [\w.]{1,120}(?:Exception|Error)\b|Suppressed: |Next \S{1,100}:|nested exception is|Root cause|Inner exception|Inner Exception|Details?: \S|DETAIL: |cause: )/,
  /** A line that is only a place in the source. */
  place:
    /^(?=.{1,299}$)(?:\[\d{1,3}\] |-{1,2}> |└─ |File |❯ |@ |[Ii]n |(?:(?:Parse|Syntax) error |Error )?at |on |at: |in file |from |→ |╭─\[ ?|,-\[ ?|┌─ |\.{3} |│ {1,4}on |# |✖ |×)?"?(?:file:\/\/)?(?:[A-Za-z]:(?=[\\/]))?(?:\.{0,2}[\\/])?[\w@.~+$()[\]-][^\s:"']{0,240}(?:\.\w{1,10}|file|Makefile|BUILD)"?(?::\d+(?:[:,]\d+|\.\d+)?(?:-\d+)?|,? (?:on )?lines? \d+(?:-\d+)?(?:[,:]? (?:in |col(?:umn)? ?|characters? )?\S{0,80})?|[( ]\d+[:,]\d+\)?)(?::in \S{1,100}| \d+\.\d+| in .{1,80}|: .{0,30}|, in .{1,100})?[\])]?:?(?: root stylesheet|\s.{0,20})?$/,
  /** A file's name alone: linters put it above its rows. */
  fileHeader:
    /^(?=.{1,239}$)(?:FILE: |In |Line |✗ |✖ |-{3} |={3,} )?(?:\.{0,2}\/)?(?:[\w@.~+()[\]-]{1,100}\/){0,30}[\w@.~+-]{1,100}\.[A-Za-z]\w{0,9}(?: line \d+)?:?$/,
  /** A row that completes the message above it: expected, got, symbol, help. */
  detail:
    /^(?:(?:running tests|symbol|location|required|found|expected|received|actual|got|left|right|want|have|rejecting|exp|act|code|error|message|msg|reason|cause|detail|details|hint|help|wanted|but was|path|file|line number|query|sql|\[sql|\[parameters|expression|diff|difference|to equal|but got|because|required by|provided|module|error message|failure reason|line|position|statement|sql ?state|action|operator|Tip)\b ?(?:\(\w+\) ?)?[:=]|[-+] ?(?:expected|actual|\S)|E {2,}|> {1,3}\S|→ |Expected|Received|Actual|[•·*] |- \S|because |and |so, |╰─▶|❯ |= (?:note|help)|Did you mean|did you mean|where |Perhaps|But |Assert|Value of|Which is|To be equal|Could not|Cannot)/i,
  /** The start of another step. */
  step: /^(?:==+>|--+>|-+> (?!\S{1,240}:\d)|::group::|##\[group\]|\$ \S|> \S+@\S+ \S+$|> [a-z@][\w@/.:-]{0,100}(?: [\w:.-]+)*$|\[\d+\/\d+\] [A-Z]|Step \d+\/\d+|STEP \d+|#\d+ \[|TASK \[|PLAY \[|RUNNING HANDLER|\[INFO\] -+< |> Task :|stage |\*{4,}|▸ |»|make(?:\[\d+\])?: Entering directory|Entering directory|ERR_PNPM_RECURSIVE|-- applying|Running |Applying |Executing )/,
  /** A step whose line says in which package or folder: worth showing beside a relative path. */
  where:
    /^(?:> @?\S{1,100}@\S{1,40} \S{1,80}$|make(?:\[\d+\])?: Entering directory|TASK \[|Applying \S|\[INFO\] -+< .{1,100} >|> Task :|#\d+ \[|-- applying|Migrating: |== \d+ \S|psql |lerna info run|\S+ \w+\$ )/,
  /** The start of what a deploy does after it failed. */
  aftermath:
    /(?<![<$(\w-])(?:roll(?:ing|ed)?[ -]?back(?! segment)|cleaning up|clean-?up|(?<=^\W{0,6})step failed|restoring(?! cache)|tearing down|post-mortem|aufräumen|reverting)(?![a-z])|^-+ ?diagnostics|^Post job cleanup|\btearing down\b|^(?:Un)?[Dd]oing |^revert\b/i,
  /** A field of a dumped object: repeats what its message says. */
  field:
    /^(?!"?(?:error|message|msg|reason|detail|cause)\b)"?[a-z_]\w{0,30}"?(?::| =) (?:['"][^'"]{0,200}['"]|-?\d{1,20}|true|false|null|undefined|\[.{0,200}|\{),?$/i,
  /** A warning that its line's form shows only after a place or a code. */
  warning:
    /^(?=[\s\S]*?(?:[Ww]arning|WARN|npm warn|deprecated))(?:\d+:\d+\s{1,6}warning\s|[^\s:]{1,240}:\d+: \w{0,40}Warning: |(?!.{0,200}\b(?:error|fatal)\b).{0,200}(?:\bnpm (?:WARN|warn) |\b(?:is|are) (?:now |currently )?deprecated\b|[\s(:[-](?:[Ww]arning|WARN(?:ING)?) ?(?:[A-Z]{1,6}\d+)?[):\]]))/,
  /** A compiler's warnings and notes. */
  advice:
    /^(?:For (?:further|more) information,? (?:visit|see|run)\b|[^\s:]{1,240}:\d+(?::\d+)?:? ?(?:- )?(?:warning|note|info|remark|hint|Warnung|Anmerkung|avertissement|advertencia|nota)\b|(?:warning|warn|note)(?:\[\S{1,40}\])?: |npm (?:warn|notice)(?: |$)|(?:usage|options):$)/i,
  /** What stands above and between tracebacks, and after the lines of a group. */
  heading:
    /^(?:Traceback \(|The above exception was|During handling of the above|(?:##\[|::)endgroup)/,
  /** How long a test run took, and what stands around its results. */
  summary:
    /^(?:\p{L}+(?: {2,}\d+){2,4}$|Finished in|Node\.js v\d|Randomized with|Done in|Took |Time: |Ran all|Ran \d|Seed|Duration|Executed |Tasks: TOP|error: called from$|Test Suite|Errors {2}Files|[⎯─━═=_*]{4}|(?:=> ?)?0x[\da-f]{6,16}:(?: [[(]?[\da-f]{2}\b){4}|\[=+\]|\[ {2}PASSED|[^\p{L}\d]+$)/u,
  /** The head of output that a test runner captured from a test. */
  captured:
    /^(?:console\.(?:error|warn|log|info|debug)|stderr \| |stdout \| |-+ ?Captured (?:stdout|stderr|log)|Captured (?:stdout|stderr|log))/,
};
