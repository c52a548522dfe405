/** Weighs one line: which rule it matches and how much that counts. */
import { marks } from './marks.ts';
import type { Rule } from './rule.ts';
import { RULES } from './rules.ts';
import { LABELLED } from './rules-words.ts';
import { readLabels } from './severity.ts';
import { KEYED } from './shape.ts';

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
  /err|fail|fatal|exce|panic|abort|crash|kill|cannot|can(?:'| no)t|could ?n|unable|un(?:re|de|ex|k|su|bo|au|av|he|me|ca|ha|te)|invalid|miss|mismatch|not |n't |no |deni|refus|reject|forb|confl|dupl|exist|expire|corrupt|require|must|illegal|malform|violat|time|dead|signal|exit|status|return|segm|sig[sk]|dump|memory|oom|disk|space|cert|ssl|x509|assert|expect|:\d|\(\d|\[\d| too |giving|gave|caus|stop|lock|depend|version|resol|overwr|stack|double|trap|\*\*|in sync|wrong|occur|aborted|conn|network|route|host|dial|permi|author|access|root|file|directory|pipe|busy|address|port|bind|near|command|is not|bad |fehl|erreur|fout|feil|fejl|virhe|chyba|hiba|hata|erro|помил|ошиб|[^\x20-\x7e]|^[!•*#E([-]|^\d+\)|<<<|^e: |^- |ok \d|got|init|ORA-|SQL|P\d|AH\d|would|unhealthy|stale|locate|declared|imported|used/i;

/** Classifies a trimmed line; null when no rule knows it. */
export function classify(trimmed: string, gated = true): Match | null {
  const text = trimmed.length > SEEN ? trimmed.slice(0, SEEN) : trimmed;
  if (gated && !GATE.test(text)) return null;
  if (marks.isPassing(text) || marks.isEcho(text) || marks.isCode(text)) return null;
  if (marks.isFrame(text) && !marks.isCause(text)) return null;
  const { severity, body, message } = readLabels(text);
  const seen = { line: text, body, message };
  const quiet = severity === 'info' || marks.saysNone(text);
  for (const rule of RULES) {
    if (
      rule.weak &&
      (quiet || severity === 'warning' || (severity === '' && marks.isProgress(text)))
    ) {
      continue;
    }
    if (!rule.pattern.test(seen[rule.on])) continue;
    return { rule, score: weigh(rule, severity, quiet, text) };
  }
  if (severity === 'error' && message.length > 1 && !quiet) {
    return { rule: LABELLED, score: marks.isHarmless(text) ? 45 : 70 };
  }
  return null;
}

function weigh(rule: Rule, severity: string, quiet: boolean, text: string): number {
  if (rule.use === 'wrapper') return rule.score;
  let score = rule.score;
  if (severity === 'error') score += rule.weak ? 14 : 3;
  if (severity === 'error' && score < LABELLED.score) score = LABELLED.score;
  if (severity === 'warning') score -= 25;
  if (quiet) score -= score >= 90 ? 20 : 35;
  if (marks.isHarmless(text)) score -= 25;
  if (marks.isField(text)) score -= 25;
  return Math.min(score, 99);
}

/** Results remembered by shape, so that the many lines of one shape cost one look. */
const REMEMBERED = 20_000;
/** Lines whose numbers matter, which a shape masks. */
const NUMBERED = /exit|code|status|signal|return|HTTP|\b[45]\d\d\b|\b0\b/i;

/** A classifier for the lines of one log. */
export function createClassifier(): (row: { whole: string; key: number }) => Match | null {
  const known = new Map<number, Match | null>();
  return ({ whole, key }) => {
    if (whole.length > KEYED) return classify(whole);
    const before = known.get(key);
    if (before !== undefined) return before;
    const match = classify(whole);
    if (known.size < REMEMBERED && !NUMBERED.test(whole)) known.set(key, match);
    return match;
  };
}
