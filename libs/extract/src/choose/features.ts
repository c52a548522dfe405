/** What is known of a line without a rule: its words, its form, its place in the log. */
import { marks } from '../line/marks.ts';
import type { Row } from '../line/row.ts';
import { readLabels, severityOfRow } from '../line/severity.ts';

/** Characters of a line that count. */
const SEEN = 400;

/** What stands for a name: a quotation, an address, a path, a name of code, a number. */
const NAMES = [
  [/\b[a-z]{2,12}:\/\/\S+/gi, ' URL '],
  [/"[^"]{1,120}"|`[^`]{1,120}[`']|(?<![\w])'[^']{1,120}'(?!\w)/g, ' QUOTE '],
  [/\b[A-Za-z][\w.]{0,80}(?:Error|Exception)\b/g, ' EXCEPTION '],
  [/(?:\.{0,2}|[\w.@~-]{1,60})(?:\/[\w.@+~-]{1,80}){1,20}\/?(?::\d+){0,2}/g, ' PATH '],
  [/\b\w{1,60}\.[A-Za-z]\w{0,9}:\d+(?::\d+)?/g, ' PLACE '],
  [/\b[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40})+\b/g, ' VARIABLE '],
  [/\b\w{1,60}(?:[_.:@-]\w{1,60}){1,12}\b/g, ' NAME '],
  [/\b\w*\d[\w.,]*/g, ' NUMBER '],
] as const;

/** The words of a message, and each with the word before it. */
export function wordsOf(message: string): string[] {
  let text = message.slice(0, SEEN);
  for (const [pattern, name] of NAMES) text = text.replace(pattern, name);
  const words = text.match(/[A-Z]{4,}(?= )|\p{L}[\p{L}'’]*|[:;,.!?=](?=\s|$)/gu) ?? [];
  const found: string[] = [];
  let last = '^';
  for (const each of words.slice(0, 60)) {
    const word = /^(?:URL|QUOTE|EXCEPTION|PATH|PLACE|VARIABLE|NAME|NUMBER)$/.test(each)
      ? each
      : each.toLowerCase();
    found.push(word, `${last} ${word}`);
    last = word;
  }
  found.push(`${last} $`);
  return found;
}

/** What a message says, in the words and phrases that tools use for it. */
const SENSES = Object.entries({
  absent:
    /\bnot? (?:been )?(?:found|exist|available|installed|defined|set|present|specified|provided|configured|registered|supplied|included|resolved|given|such|matching|candidate|version|provider|space|module|default|suitable)\b|\b(?:missing|absent|undefined|undeclared|unresolved|unknown|unrecogni[sz]ed|nonexistent|unavailable|lacks?|without|nothing)\b|\b(?:cannot|can't|can not|couldn't|could not|unable to|failed to|didn't) (?:find|locate|resolve|load|import|open|determine|read)\b|\b(?:does|do|did)(?: not|n't) (?:exist|contain|have|provide|export|match|support|include)\b|\bis (?:empty|null|undefined)\b/i,
  denied:
    /\b(?:denied|forbidden|unauthori[sz]ed|unauthenticated|not (?:permitted|allowed|authori[sz]ed|writable|trusted|accessible)|permissions?|refused|rejected|read-only|authentication|credentials?|unable to (?:get|verify)|401|403|EACCES|EPERM)\b/i,
  invalid:
    /\b(?:invalid|illegal|malformed|unexpected|bad|corrupt(?:ed)?|incorrect|wrong|incompatible|unsupported|expired|syntax|unterminated|unparsable|ambiguous|insecure|outdated|not (?:a valid|valid|supported|compatible|recogni[sz]ed|match)|mismatch(?:ed)?|differs?|too (?:old|new)|no longer|cannot be|can't be|changed since|out of (?:date|sync))\b/i,
  conflicts:
    /\b(?:conflict(?:s|ing)?|already|duplicate[ds]?|in use|locked|exists|twice|multiple|both|cycl(?:e|ic)|circular|overlap(?:s|ping)?|EADDRINUSE|another)\b/i,
  exceeds:
    /\b(?:exceed(?:s|ed|ing)?|too (?:many|large|long|big|small|short)|no space|out of memory|quota|insufficient|limit(?:ed)?|maximum|minimum|at (?:least|most)|(?:larger|smaller|greater|less) than|not enough|full|OOM\w*|exhausted|ENOSPC|ENOMEM|EMFILE)\b/i,
  requires:
    /\b(?:requires?|required|must|needs?|expect(?:s|ed)|depends on|only (?:supports?|works?)|has to|have to|should)\b/i,
  failed:
    /\b(?:fail(?:s|ed|ure|ures|ing)?|errors?|fatal|panic(?:ked)?|exception|crash(?:ed)?|broken|cannot|can't|couldn't|could not|unable|unsuccessful)\b/i,
  ended:
    /\b(?:exit(?:s|ed|ing)?|abort(?:s|ed|ing)?|roll(?:ed|ing)? ?back|shut(?:ting)? ?down|stop(?:s|ped|ping)?|cancel(?:led|ed|ing)?|terminat(?:ed|ing)|killed|giving up|gave up|unhealthy|incomplete|did not complete|non-zero|returned|interrupted|backing off|back-off|skipp(?:ed|ing))\b/i,
  waits:
    /\b(?:timed? ?out|timeout|waiting|wait(?:ed)?|deadline|retry(?:ing)?|retries|attempts?|unreachable|reconnect(?:ing)?|connect(?:ion|ing)?|ECONN\w+|ENOTFOUND|upstream)\b/i,
  advises:
    /\b(?:please|try|tries|consider|recommend(?:ed|ation)?|perhaps|maybe|hint|help|for (?:more|further|details)|to (?:fix|resolve|install|disable|enable|allow|ignore|skip|see|view|learn|update|upgrade|prevent|avoid)|if you|make sure|ensure|you (?:can|may|might|should|must|need|have|are)|did you|run (?:with|the|again)|see|visit|refer|check|use|instead|otherwise|want to|documentation|learn more)\b/i,
  explains:
    /\b(?:this (?:means|is|may|might|can|could|usually|error|happens|version|issue|command|will)|likely|probably|because|since|so|due to|caused by|reason|as a result|therefore|usually|typically|which)\b/i,
  proceeds:
    /^\W*(?:\w+ing|\w+ed)\b|\b(?:success(?:ful|fully)?|done|finished|completed?|ready|ok|passed|started|created|using|loaded|listening|found \d|up to date)\b/i,
  negates: /\b(?:no|not|never|none|cannot|can't|without|neither|nor|unable)\b/i,
});

/** What a message says, and each two things that it says at once. */
function sensesOf(message: string): string[] {
  const text = message.slice(0, SEEN);
  const found = SENSES.filter(([, says]) => says.test(text)).map(([name]) => name);
  const pairs = found.flatMap((a, at) => found.slice(at + 1).map((b) => `${a} and ${b}`));
  return found.length === 0 ? ['says nothing'] : [...found, ...pairs].map((each) => `says ${each}`);
}

const FORMS = Object.entries(marks);

/** Of which kind a line is, whatever its words. */
function formsOf(row: Row): string[] {
  const { trimmed } = row;
  const forms = FORMS.filter(([, mark]) => mark.test(trimmed)).map(([name]) => name);
  const severity = severityOfRow(row);
  forms.push(`severity ${severity}`, `length ${Math.min(8, Math.round(trimmed.length / 25))}`);
  if (row.indent > 0) forms.push('indented');
  if (row.gap) forms.push('after a blank line');
  if (row.level !== '') forms.push(`level ${row.level}`);
  return forms;
}

/** The size of a distance in few steps. */
function far(lines: number): string {
  return lines === 0
    ? '0'
    : `${lines < 0 ? '-' : ''}${Math.min(6, Math.ceil(Math.log2(Math.abs(lines) + 1)))}`;
}

/** Names in a line that are rare in prose. */
function namesIn({ trimmed }: Row): string[] {
  return (
    trimmed
      .slice(0, SEEN)
      .match(/[\w./@-]*(?:[a-z][A-Z]|[\w][_./@-]\w)[\w./@-]*|(?<=["'`])[\w-]{3,}(?=["'`])/g) ?? []
  );
}

/** A name in two to four lines connects them. */
function isShared(lines: number): boolean {
  return lines > 1 && lines < 5;
}

/** The features of each row; the rows in the log's order. */
export function featuresOf(rows: readonly Row[], ends: readonly number[]): string[][] {
  const messages = rows.map(({ trimmed }) => readLabels(trimmed).message);
  const words = messages.map(wordsOf);
  const singles = words.map((own) => own.filter((each) => !each.includes(' ')));
  const forms = rows.map(formsOf);
  const firstError = rows.findIndex((row) => severityOfRow(row) === 'error');
  const lastError = rows.findLastIndex((row) => severityOfRow(row) === 'error');
  const firstEnd = rows.findIndex(({ line }) => ends.includes(line));
  const lastEnd = rows.findLastIndex(({ line }) => ends.includes(line));
  const counts = new Map<string, number>();
  const named = rows.map((row) => [...new Set(namesIn(row))]);
  for (const name of named.flat()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return rows.map((row, at) => {
    const next = rows[at + 1];
    const last = rows[at - 1];
    const shared = (named[at] ?? []).filter((name) => isShared(counts.get(name) ?? 1)).length;
    return [
      ...new Set([
        'any',
        ...(words[at] ?? []),
        ...sensesOf(messages[at] ?? ''),
        ...(next?.speaker === row.speaker ? (singles[at + 1] ?? []) : []).map(
          (word) => `then ${word}`,
        ),
        ...(last?.speaker === row.speaker ? (singles[at - 1] ?? []) : []).map(
          (word) => `above ${word}`,
        ),
        ...(forms[at] ?? []).map((form) => `is ${form}`),
        ...(forms[at + 1] ?? ['no line']).map((form) => `then ${form}`),
        ...(forms[at - 1] ?? ['no line']).map((form) => `above ${form}`),
        `to the end ${far(rows.length - 1 - at)}`,
        `from the start ${far(at)}`,
        `first error ${firstError < 0 ? 'none' : far(at - firstError)}`,
        `last error ${lastError < 0 ? 'none' : far(at - lastError)}`,
        `first end ${firstEnd < 0 ? 'none' : far(at - firstEnd)}`,
        `last end ${lastEnd < 0 ? 'none' : far(at - lastEnd)}`,
        ...(ends.includes(row.line) ? ['end'] : []),
        `seen ${Math.min(4, row.shape.seen)}`,
        `shared ${Math.min(3, shared)}`,
        `colons ${Math.min(4, row.trimmed.split(/: /).length - 1)}`,
        ...(row.trimmed.endsWith(':') ? ['opens'] : []),
        ...(last?.trimmed.endsWith(':') ? ['announced'] : []),
        ...(next && next.indent > row.indent ? ['heads'] : []),
        ...(last && last.indent < row.indent ? ['below'] : []),
        ...(last && last.speaker !== row.speaker ? ['other speaker'] : []),
        ...(next && next.speaker !== row.speaker ? ['speaker ends'] : []),
      ]),
    ];
  });
}
