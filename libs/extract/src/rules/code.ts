/** Compilers, linkers, linters and interpreters that name a place in the source. */
import { rule } from './rule.ts';

const BODY = { on: 'body' } as const;
/** Endings of files that messages name with a line number. */
export const SOURCE =
  '(?:go|rs|c|cc|cpp|cxx|h|hpp|m|mm|swift|java|kts?|scala|groovy|cs|fs|vb|py|pyx|rb|pl|pm|lua|php|js|jsx|mjs|cjs|ts|tsx|mts|cts|vue|svelte|astro|css|scss|sass|less|styl|html|hs|ml|mli|ex|exs|erl|elm|nim|zig|d|dart|jl|r|R|sh|bash|tf|hcl|ya?ml|json|toml|ini|conf|cfg|xml|proto|sql|graphql|tex|md|v|sv|vhd|adb|ads|f90|f95|f|pas|pp|vala|cob|cbl|l|ll|y|yy|po|asm|s|S|tcl|lisp|scm|nix|vcl|mk|am|ac|adoc|rst|prisma|thrift|xsd|jsp|erb|haml|twig|j2|tmpl|hbs|ejs|pug|liquid|rego|cue|bats|vhdl|clj|cljs|rkt|gradle|bazel|bzl|cmake|build|Dockerfile)';

/** Tried from top to bottom. */
export const CODE = [
  rule('offense', 'lint', 74, ':#', /^[^\s:]{1,240}:\d+:\d+: [CWREF]: \S/, BODY),
  rule(
    'located-error',
    'compile',
    93,
    ':#',
    /^(?:[\w+.-]{1,20}:)?[^\s:([][^:\n]{0,240}:\d+(?:[:.,]\d+){0,2}(?:-[\d:.]+)?:? ?(?:\(\S{1,60}\) )?(?:-\s)?(?:fatal error|error|Error|ERROR|fatal|Fehler|schwerwiegender Fehler|erreur(?: fatale)?|errore|error fatal|erro|ошибка|エラー|错误|致命错误|錯誤|오류|fout|błąd|hata|fel|feil|fejl|chyba|virhe)(?=[ :[(]|$)/,
    BODY,
  ),
  rule(
    'located-paren',
    'compile',
    93,
    '(#',
    /^(?:\d+>)?[^\s(][^(\n]{0,240}\(\d+(?:[,-] ?\d+){0,3}\) ?:? ?(?:fatal )?(?:error|Error|Fehler)\b/,
    BODY,
  ),
  rule('located-java', 'compile', 92, ':[#', /^\S{1,240}\.(?:java|kt|scala|groovy):\[\d+,\d+\] /),
  rule('coded-error', 'compile', 91, 'error[', /^(?:error|ERROR)\[[A-Z]\w{0,12}\]: /, BODY),
  rule(
    'error-code',
    'compile',
    88,
    'error ',
    /^(?:error|ERROR|fatal error) (?:TS|CS|FS|BC|MSB|NU|NETSDK|AD|C|LNK|CA|SA|IDE|AVLN|XA|APT|ILC)\d{1,6}: /,
    BODY,
  ),
  rule(
    'scala',
    'compile',
    93,
    'error: ',
    /^-- (?:\[E\d+\] )?(?:[A-Z]\w* ){0,3}Error: \S{1,300}:\d+:\d+(?: -+)?$/,
    BODY,
  ),
  rule('kotlin', 'compile', 91, 'e: ', /^e: (?:file:\/\/)?\S{1,240}\.(?:kts?|java|gradle)\b/, BODY),
  rule(
    'unformatted',
    'lint',
    78,
    'diff in |would reformat|formatted|sorted',
    /^(?:Diff in \S|[Ww]ould reformat:? \S|.{0,200}\b(?:is|are|was|were) not (?:properly |correctly )?(?:formatted|sorted)\b)/,
  ),
  rule(
    'linker',
    'link',
    91,
    'undefined |unresolved|duplicate symbol|multiple definition|cannot |symbol(s) not found|linking with|version `',
    /undefined reference to|[Uu]ndefined symbols?\b|unresolved external symbol|duplicate symbol|multiple definition of|cannot find -l|symbol\(s\) not found|linking with .{0,60}failed|cannot open shared object file|version `.{1,60}' not found/,
  ),
  rule(
    'lint-row',
    'lint',
    88,
    ':#',
    /^\s{0,12}\d+:\d+\s{1,6}(?:error|Error:?|✖|×|✘|E|F)\s{1,4}\S/,
    BODY,
  ),
  rule(
    'located-code',
    'lint',
    80,
    ':#',
    new RegExp(
      `^(?:\\./)?[^\\s:]{1,240}\\.${SOURCE}:\\d+(?::\\d+)?:? (?:\\w+: )?\\[?[A-Z]{1,4}\\d{2,5}\\b`,
    ),
    BODY,
  ),
  rule(
    'located-line-col',
    'lint',
    82,
    ': line #',
    new RegExp(`^(?:\\.{0,2}/)?[^\\s:]{1,240}\\.${SOURCE}: line \\d+, col(?:umn)? \\d+[,:] \\S`),
    BODY,
  ),
  rule(
    'located-words',
    'compile',
    92,
    'line #',
    /^(?:\S{1,120}:? )?line \d+(?:,? col(?:umn)? \d+)? ?[-:,] ?(?:fatal )?error\b/i,
    BODY,
  ),
  rule(
    'coded-label',
    'lint',
    84,
    '(error)',
    /^(?:[~^-]{1,80} )?[A-Z]{1,6}\d{2,5} \(error\): \S/,
    BODY,
  ),
  rule(
    'located-message',
    'compile',
    82,
    ':#',
    new RegExp(
      `^(?:vet: |\\w+: )?(?:\\.{0,2}/)?[^\\s:]{1,240}\\.${SOURCE}:\\d+:\\d+:? (?!\\s{0,4}(?:warning|note|info|information|hint|remark|Warnung|Anmerkung|avertissement|style|W|C|R|convention)\\b)\\S`,
    ),
    BODY,
  ),
  rule(
    'rustc-crash',
    'compile',
    92,
    'internal compiler error',
    /^error: internal compiler error|internal compiler error:/,
    BODY,
  ),
  rule(
    'ghc-old',
    'compile',
    90,
    'error: |type mismatch: ',
    /^(?:Type error|Syntax error|Parse error|TypeError|SyntaxError|ParseError|Semantic error|Name error|Reference error|Compile error|CompileError|CssSyntaxError|Type mismatch|Linker error): \S/i,
    BODY,
  ),
  rule(
    'php',
    'syntax',
    93,
    ' error: ',
    /^(?:PHP )?(?:Parse|Fatal|Recoverable fatal|Compile|Catchable fatal) error: /i,
    BODY,
  ),
  rule(
    'tex',
    'compile',
    90,
    '! ',
    /^! (?:(?:La|pdf|Xe|Lua)?TeX\b|(?:Package|Class) |Undefined |Missing |Emergency |Extra |Illegal |Too many |Paragraph |I can't |Misplaced |Dimension |File |You can't |Double |Argument |Use of |Incomplete |Font |Improper |Bad |Unknown |Limit |Not a |Number |Arithmetic |\w{1,20} Error\b)/,
    BODY,
  ),
  rule(
    'unresolved-import',
    'module',
    89,
    "cannot |can't |could not |can not |failed to |unable to |no module|modulenotfound|no required module|package |module not found|' not found|unresolved import",
    /(?:Cannot|Can't|Could not|can not|failed to|Unable to|unable to) (?:find|resolve|locate|load|import)(?: \w+){0,2} (?:module|package|import|library|entry module|crate|gem|extension)\b|No module named|ModuleNotFoundError|cannot load such file|Can't resolve '|Could not resolve "|[Ff]ailed to resolve (?:import|entry|module|')|no required module provides|cannot find package|package .{1,80} is not in (?:std|GOROOT)|Module not found|Can't locate \S+ in @INC|module '.{1,80}' not found|unresolved import|there is no package called/,
  ),
  rule(
    'syntax-word',
    'syntax',
    86,
    'syntax error|syntaxerror|parse error|unexpected |unterminated ',
    /\b(?:[Ss]yntax error|SyntaxError|parse error|[Uu]nexpected (?:token|end of|EOF|identifier|character|symbol)|unterminated (?:string|quoted))\b/,
  ),
];
