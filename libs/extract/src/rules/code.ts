/** Compilers, linkers, linters and interpreters that name a place in the source. */
import { rule, SOURCE } from './rule.ts';

/** Tried from top to bottom. */
export const CODE = [
  rule(
    { name: 'located-error', class: 'compile', score: 93, on: 'body' },
    /^[^\s:]{0,200}\/[^\s:]{1,200}: (?:fatal )?error: \S|^(?:[\w+.-]{1,20}:)?[^\s:([][^:\n]{0,240}:\d+(?:[:.,]\d+){0,2}(?:-[\d:.]+)?:? ?(?:\(\S{1,60}\) )?(?:-\s)?(?:fatal error|error|Error|ERROR|fatal|Fehler|schwerwiegender Fehler|erreur(?: fatale)?|errore|error fatal|erro|ошибка|エラー|错误|致命错误|錯誤|오류|fout|błąd|hata|fel|feil|fejl|chyba|virhe)(?=[ :[(]|$)/,
    /^(?:\d+>)?[^\s(][^(\n]{0,240}\(\d+(?:[,-] ?\d+){0,3}\) ?:? ?(?:fatal )?(?:error|Error|Fehler)\b/,
    /^(?:error|ERROR)\[[A-Za-z][\w-]{0,40}\]: /,
    /^(?:error|ERROR|fatal error) (?:TS|CS|FS|BC|MSB|NU|NETSDK|AD|C|LNK|CA|SA|IDE|AVLN|XA|APT|ILC)\d{1,6}: /,
    /^error: internal compiler error|internal compiler error:/,
    /^(?:(?:Type|Syntax|Parse|Semantic|Name|Reference|Compile|Linker) error|(?:Type|Syntax|Parse|Compile|CssSyntax)Error|Type mismatch): \S/i,
  ),
  rule(
    { name: 'unformatted', class: 'lint', score: 85 },
    /^(?:Diff in \S|[Ww]ould reformat:? \S|.{0,200}\b(?:is|are|was|were) not (?:properly |correctly )?(?:formatted|sorted)\b)/,
    /\bCode style issues? (?:were )?found\b|^\d{1,5} files? would be reformatted\b/i,
  ),
  rule(
    { name: 'linker', class: 'link', score: 91 },
    /undefined reference to|[Uu]ndefined symbols?\b|unresolved external symbol|duplicate symbol|multiple definition of|cannot find -l|symbol\(s\) not found|linking with .{0,60}failed|cannot open shared object file|version `.{1,60}' not found/,
  ),
  rule(
    { name: 'located-message', class: 'compile', score: 82, on: 'body' },
    new RegExp(
      `^(?:vet: |\\w+: )?(?:\\.{0,2}/)?[^\\s:]{1,240}\\.${SOURCE}:\\d+:\\d+:? (?!\\s{0,4}(?:warning|note|info|information|hint|remark|Warnung|Anmerkung|avertissement|style|W|C|R|convention)\\b)\\S`,
    ),
    /^[^\s:]{1,240}:\d+:\d+: [CEFRW]: (?:\[Correctable\] )?[A-Z]\w{1,60}\/\w/,
  ),
  rule(
    { name: 'unresolved-import', class: 'module', score: 89 },
    /(?:Cannot|Can't|Could not|can not|failed to|Unable to|unable to) (?:find|resolve|locate|load|import)(?: \w+){0,2} (?:module|package|import|library|entry module|crate|gem|extension)\b|No module named|ModuleNotFoundError|cannot load such file|Can't resolve '|Could not resolve "|[Ff]ailed to resolve (?:import|entry|module|')|no required module provides|cannot find package|package .{1,80} is not in (?:std|GOROOT)|Module not found|Can't locate \S+ in @INC|module '.{1,80}' not found|unresolved import|there is no package called/,
  ),
  rule(
    { name: 'syntax-word', class: 'syntax', score: 86 },
    /\b(?:[Ss]yntax error|SyntaxError|parse error|[Uu]nexpected (?:token|end of|EOF|identifier|character|symbol)|unterminated (?:string|quoted))\b/,
  ),
];
