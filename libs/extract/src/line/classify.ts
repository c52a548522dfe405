/** Weighs one line: which rule it matches and how much that counts. */

import type { Rule } from '../rules/rule.ts';
import { RULES } from '../rules/table.ts';
import { LABELLED } from '../rules/words.ts';
import { marks } from './marks.ts';
import { readLabels, type Severity } from './severity.ts';

/** The rule that a line fits, and what it is worth there. */
export interface Match {
  readonly rule: Rule;
  /** The rule's score, moved by the line's label and by what plays it down. */
  readonly score: number;
}

/** Code units of a line that rules see. */
const SEEN = 2000;

/**
 * Every line that a rule can match has one of these; the others, most of a log, cost one pattern
 * instead of a hundred. A new rule may need a new word here: a test compares both ways.
 */
const GATE =
  /incompat|, but\b|; but\b| only |neither|overflow|already|err(?:or|no|ata)|\bERR|Error|fail|fatal|excep|panic|abort|crash|kill|terminat|can(?:'| ?no)t|could ?n|unable|un(?:re|se|de[fc]|exp|kn|su|bo|au|av|he|me|ca|ha|ter|sa)|invalid|missing|mismatch|\bnot\b|n't |\bno |denied|refus|reject|forbid|confl|duplicate|exist|expire|corrupt|require|\bmust\b|illegal|malform|violat|time(?:d |-)?out|timed|timeout|deadline|\bsignal|\bexit|status [1-9]|status(?: code)?[:=]|non-zero|segm|\bSIG|dump|memory|\boom|\bspace\b|certificate|\bSSL|x509|assert|expected|:\d+:|\.\w+:\d+|\(\d+[,)]|:\[\d|\d+:\d+ |: line \d| at .* line| too |giving|gave|caus|locked|depends on|resol|overwr|stack|double|trap|\*\*|sync|wrong|occur|[45]\d\d\b|\bE[A-Z]{4,}|\bP\d{4}|curl|wget|ssh|socket|hang up|Max retries|network|route to|\bdial|permi|author|access|\broot\b|too many|directory|broken pipe|Broken|busy|address|bind|pull|command|is not|\bbad |fehl|erreur|fout|feil|fejl|virhe|chyba|hiba|hata|erro|помил|ошиб|[^\x20-\x7e]|^[!•*E(-]|^\d+\)|<<<|^e: |ok \d|\bgot\b|init|ORA-|SQL|AH\d|would be|stale|locate|declared|imported|Hangup|Alarm|closed|neither|already|overflow|truncat|insuff|ambig|circular|cyclic|incorrect|incomplete|prohib|disallow|dead link|below|less than|exceed|threshold|formatted|reformat|Wstat|sub-exc|crashed|Message|should|HOST|password|cancel|migration|healthy|BackOff|ErrImage|^\{"|yaml: |mapping|found|Aucun|non |No existe|denegado|encontra|Datei|Keine|Arquivo|negad|limit|took|respond|^FAIL|find|load|halted|building|problem|warning|vulnerab|^# |^Ran |tests|See |For more|complete|^cc1|^collect2|\bt?rsync|gzip|stop|^Test|^Tasks|Suites|Snapshots|Target|^Service|^Service|^\* |scenarios|specs|examples|passed|configuring|information|descr|getaddr|Lifecycle|aliases|Usage|ELIF|ERR_|finished|ended|returned|exited|^In \S+ line|^Message/i;

/** A record in JSON that counts errors may name one all the same. */
const NAMES_ERROR = /"(?:error|reason|exception|err)" ?: ?"[^"]{4}/;

/** The heading of a step, which may be about errors. */
const STEP_NAMED = /^(?:==+>|--+>) \[\d{1,3}\/\d{1,3}\] /;

/** A commit as `git log --oneline` names it. */
const COMMIT = /^[0-9a-f]{7,12} [A-Z][a-z]/;

/** A row of a table of counts. */
const COUNTS = /^\p{L}+(?: {2,10}\d{1,9}){2,6}$/u;

/** What databases add to an error. */
const ASIDE = /^(?:DETAIL|HINT|CONTEXT|STATEMENT|QUERY|LINE \d+):/;

/** Classifies a trimmed line; null when no rule knows it. */
export function classify(trimmed: string, gated = true): Match | null {
  const text = trimmed.length > SEEN ? trimmed.slice(0, SEEN) : trimmed;
  if (gated && !GATE.test(text)) return null;
  // What PowerShell says of every program that writes to its standard error.
  if (/NativeCommandError$|^:String\) \[\], RemoteException$/.test(text)) return null;
  // What a compiler adds to a message that it has told.
  if (/^= (?:note|help): /.test(text)) return null;
  if (marks.isPassing(text) || marks.isEcho(text) || marks.isCode(text)) return null;
  if (marks.isCaptured(text) || COUNTS.test(text) || COMMIT.test(text)) return null;
  if (marks.isFrame(text) && !marks.isCause(text)) return null;
  const { severity: label, body, message } = readLabels(text);
  const inner = message.replace(/^[\w.-]{1,40}: /, '');
  if (label !== '' && (marks.isCode(inner) || (marks.isFrame(inner) && !marks.isCause(inner)))) {
    return null;
  }
  const severity = severityOf(label, text);
  if (severity === '' && marks.isProgress(text) && !/[:!]|fail|exit/i.test(text)) return null;
  const seen = { line: text, body, message };
  const quiet = severity === 'info' || (marks.saysNone(text) && !NAMES_ERROR.test(text));
  for (const rule of RULES) {
    if (
      rule.weak &&
      (quiet ||
        severity === 'warning' ||
        (severity === '' && (marks.isProgress(text) || STEP_NAMED.test(text))))
    ) {
      continue;
    }
    if (!rule.pattern.test(seen[rule.on])) continue;
    if (rule.use === 'wrapper' && marks.saysNone(text)) return null;
    return { rule, score: weigh(rule, severity, quiet, text) };
  }
  // One sign of punctuation is what is left of a brace or a rule.
  const tells = message.length > 1 || /[\p{L}\p{N}]/u.test(message);
  if (severity === 'error' && tells && !quiet) {
    // A cross before what was being done says only which step failed.
    const vague = marks.isHarmless(text) || /^\p{L}+ing\b.{0,200}(?:\.{3}|…)$/iu.test(message);
    return { rule: LABELLED, score: vague ? 45 : ANNOTATED.test(text) ? 80 : 70 };
  }
  return null;
}

/** What a CI's action says of its own failure. */
const ANNOTATED = /^(?:##\[error\]|::error)/;

/** A record's field that holds the message. */
const MESSAGE = /^(?:(?:Error )?[Mm]essage|Reason|Cause|Problem|Failure|Failure reason): \S/;

/** A program's own label counts more than the level at which somebody relays its line. */
const RELAYED = /^(?!.{0,60}\blevel\b).{1,200}\s[\w./+-]{2,200}: (?:fatal )?error: \S/;

function severityOf(label: Severity, text: string): Severity {
  if (label === 'info' && RELAYED.test(text)) return 'error';
  // A race is a bug, whatever the sanitizer calls it.
  if (/^WARNING: \w{1,30}Sanitizer: /.test(text)) return 'error';
  return label === '' && marks.isWarning(text) ? 'warning' : label;
}

function weigh(rule: Rule, severity: string, quiet: boolean, text: string): number {
  if (rule.use === 'wrapper') return rule.score;
  let score = rule.score;
  if (severity === 'error') score += rule.weak ? 14 : 3;
  if (severity === 'error' && score < LABELLED.score) score = LABELLED.score;
  if (ANNOTATED.test(text)) score = Math.max(score, 80);
  // Some tools only warn of what stops them: a full disk. All other warnings are not the cause.
  if (severity === 'warning') score -= score >= 90 ? 25 : 50;
  // A test's name says nothing of how many failed.
  if (severity === 'info') score -= 40;
  else if (quiet && rule.class !== 'test') score -= score >= 90 ? 20 : 35;
  if (rule.weak && MESSAGE.test(text)) score += 12;
  if (marks.isHarmless(text)) score -= 25;
  if (marks.isField(text)) score -= 25;
  if (ASIDE.test(text)) score -= 25;
  // A sanitizer's last line repeats its first one, which the frames follow.
  if (text.startsWith('SUMMARY: ')) score -= 10;
  return Math.min(score, 99);
}
