/** Weighs one line: which rule it matches and how much that counts. */

import { LABELLED } from '../rules/labels.ts';
import type { Rule } from '../rules/rule.ts';
import { RULES } from '../rules/table.ts';
import { marks } from './marks.ts';
import type { Kind, Match, Row } from './row.ts';
import { readLabels, type Severity } from './severity.ts';
import { KEYED } from './shape.ts';

/** Code units of a line that rules see. */
const SEEN = 2000;

/** A field that says why, behind the words of a line. */
const REASON =
  /^(?=\S+ \S+ \S+).{8,200}[,;] exiting\b|\(exit (?:status|code) \d{1,3}\): \S|\s(?:error|err|reason|cause)=["']?(?!\d{1,3}\b|nil\b|null\b|none\b)\w/;

/** Lines that no rule is tried on. */
const SILENT = [marks.passing, marks.echo, marks.captured, marks.heading];

/** Classifies a trimmed line; null when no rule knows it. */
export function classify(trimmed: string, level: Severity = ''): Match | null {
  const text = trimmed.length > SEEN ? trimmed.slice(0, SEEN) : trimmed;
  if (SILENT.some((mark) => mark.test(text))) return null;
  // Code, or a row of a stack trace that names no deeper cause.
  if (marks.code.test(text) || (marks.frame.test(text) && !marks.cause.test(text))) return null;
  const { severity: label, body, message } = readLabels(text);
  const severity = severityOf(label, text);
  const logged = severity === '' ? level : '';
  const isProgress = severity === '' && marks.progress.test(text);
  const seen = { line: text, body, message };
  const quiet = severity === 'info' || marks.saysNone.test(text);
  for (const rule of RULES) {
    if (rule.weak && (quiet || severity === 'warning' || isProgress)) continue;
    if (!rule.patterns.some((pattern) => pattern.test(seen[rule.on]))) continue;
    if (rule.use === 'wrapper' && REASON.test(text)) continue;
    return {
      rule,
      score: weigh(rule, severity, quiet, text) + LOGGED[logged] * (rule.weak ? 2 : 1),
    };
  }
  const labelled = (severity === 'error' || logged === 'error') && !quiet;
  return labelled ? { rule: LABELLED, score: 70 } : null;
}

/** What the level at which a line was logged adds: relays give all they pass on the same level. */
const LOGGED: Readonly<Record<Severity, number>> = { error: 4, warning: -6, info: -4, '': 0 };

function severityOf(label: Severity, text: string): Severity {
  return label === '' && marks.warning.test(text) ? 'warning' : label;
}

function weigh(rule: Rule, severity: string, quiet: boolean, text: string): number {
  if (rule.use === 'wrapper') return rule.score;
  let score = rule.score;
  if (severity === 'error') score = Math.max(score, LABELLED.score);
  // Some tools only warn of what stops them: a full disk. All other warnings are not the cause.
  if (severity === 'warning') score -= score >= 90 ? 25 : 50;
  // A test's name says nothing of how many failed.
  if (severity === 'info') score -= 40;
  else if (quiet && rule.class !== 'test') score -= 35;
  if (marks.harmless.test(text)) score -= 25;
  if (marks.field.test(text)) score -= 25;
  return Math.min(score, 99);
}

/** Lines whose numbers matter, which a shape masks. */
const NUMBERED = /exit|code|status|signal|return|HTTP|\b[45]\d\d\b|(?<![\w.])0(?![\d.])/i;

/** What the line is; a shape's first line answers for the others. */
export function kindOf(row: Row): Kind {
  const { whole, shape } = row;
  if (shape.kind !== undefined) return shape.kind;
  const kind = look(row);
  if (whole.length <= KEYED && !NUMBERED.test(whole)) shape.kind = kind;
  return kind;
}

function look({ whole, trimmed, level }: Row): Kind {
  return {
    // Inside a drawn box the message is what the box holds; `npm error` says something itself.
    match: classify(/^(?:[│┃|]|!!)/.test(whole) ? trimmed : whole, level),
    step: marks.step.test(trimmed),
    where: marks.where.test(trimmed) && !marks.passing.test(trimmed),
    file: marks.fileHeader.test(trimmed),
  };
}
