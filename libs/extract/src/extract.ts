/**
 * Picks the lines out of a build log that say why it failed.
 *
 * One pass over the log keeps candidates for the cause (`collect/`), found by a table of rules
 * (`rules/`, `line/classify.ts`). Then `choose/` ranks them and shows the best one with the lines it
 * needs, then the first lines of the others. Time is linear in the log, memory is bounded, and the
 * result does not depend on how the log was cut into chunks.
 */

import { redactor } from '@runner/common/secrets/redactor';
import { codePoints, cutCodePoints } from '@runner/common/text/plain';
import { type Baseline, noBaseline } from './choose/baseline.ts';
import { compose, type Show } from './choose/compose.ts';
import { type Ending, explainEnding } from './choose/ending.ts';
import { isMatched, type Ranked, rank } from './choose/rank.ts';
import { type Collected, Collector } from './collect/collect.ts';
import { classify } from './line/classify.ts';
import { marks } from './line/marks.ts';
import { createLineReader } from './line/split.ts';
import { PrefixRemover } from './prefix/remover.ts';
import type { ErrorClass } from './rules/rule.ts';

export { type Baseline, baselineOf, createShapeReader } from './choose/baseline.ts';
export { lineShape } from './line/shape.ts';
export { createLineReader } from './line/split.ts';

/** Error text that the first message of a failure holds: docs/notifications.md. */
const MAX = 800;

/** How to extract, and how the step that wrote the log ended. */
export interface ExtractOptions extends Ending {
  /** Code points of the text at most; 800 if not given. */
  readonly max?: number;
  /** Runs on every line before it is cut. By default, texts shaped like secrets are redacted. */
  readonly redact?: (text: string) => string;
  /** Whether the last good build printed a line too: then it is not the cause. */
  readonly baseline?: Baseline;
}

/** What was chosen of a log. */
export interface Extraction {
  /** The lines that say why, the cause first; '' only for an empty log. */
  readonly text: string;
  /** The log's lines in it, counted from 1, ascending. */
  readonly lines: number[];
  /** The kind of trouble, one of `ErrorClass`. */
  readonly class: ErrorClass;
  /** The rule that chose the first line; null when no rule did. */
  readonly rule: string | null;
}

/** What is kept of a log that is in memory. */
export function collect(log: string | Uint8Array): Collected {
  const { reader, finish } = createCollecting();
  reader.push(log);
  return finish();
}

function createCollecting() {
  const collector = new Collector();
  const remover = new PrefixRemover((line) => collector.add(line));
  const reader = createLineReader((text, line, overwritten) =>
    remover.add(text, line, overwritten),
  );
  const finish = () => {
    reader.end();
    remover.end();
    return collector.finish();
  };
  return { reader, finish };
}

/** An extractor for one log, which comes in chunks of any size. */
export function createExtractor(options: ExtractOptions = {}) {
  const redact = options.redact ?? redactor();
  const { reader, finish } = createCollecting();
  return { push: reader.push, end: () => extraction(finish(), options, redact) };
}

/** Whether a line alone says that something went wrong, and more than as a warning. */
export function isErrorLine(line: string): boolean {
  const match = classify(line);
  return match !== null && match.score >= TRUSTED[match.rule.use];
}

/** A leader below this score is not trusted. */
const TRUSTED = { cause: 40, test: 40, announce: 40, wrapper: 20 } as const;

function extraction(
  collected: Collected,
  options: ExtractOptions,
  redact: (text: string) => string,
): Extraction {
  const max = Math.max(0, options.max ?? MAX);
  const { baseline } = options;
  const fresh = rank(collected, baseline ? (line) => baseline(redact(line)) : noBaseline);
  // What good builds only complained of may have become fatal.
  const isOld = baseline !== undefined && !fresh.some(isCause);
  const all = lead(isOld ? rank(collected, noBaseline) : fresh);
  const said = all.find((each) => isTrusted(each) && isMatched(each))?.candidate.rule;
  const ended = explainEnding(options);
  // A bare `Killed` says less than how the step ended.
  const killed = ended?.grave === true && said?.class === 'killed';
  const ranked = all.filter(
    (each) => !(killed && each.candidate.rule === said) && (ended === null || saysMore(each)),
  );
  const [leader] = ranked;
  const silent = said === undefined || said.use === 'wrapper';
  const isOver = ended?.grave === true && !TELLS_END.has(said?.class ?? 'silent');
  // A line of success does not lead, but it may be the cause: 'database has no issues table'.
  const isCalm = leader !== undefined && marks.saysNone.test(leader.candidate.row.trimmed);
  const first = isOver || (!said && ended !== null && (isOld || isCalm || ended.class !== 'exit'));
  const doubted = silent || isOld || (leader?.score ?? 0) < CERTAIN;
  const last = ended !== null && !ended.grave && doubted;
  const words = first || last ? ended.words : '';
  const room = Math.max(0, max - (words === '' ? 0 : codePoints(words) + 1));
  const show: Show = ({ speaker, body }) =>
    redact(
      collected.several && speaker !== ''
        ? `${speaker}${/(?:^| )\[.*\]$/.test(speaker) ? '' : ':'} ${body}`
        : body,
    );
  const { text, lines } = compose(ranked, room, show);
  const parts = [first ? words : '', redact(text), last && !first ? words : ''];
  const ends = first || (last && (said === undefined || said.class === 'exit'));
  return {
    text: cutCodePoints(parts.filter((part) => part !== '').join('\n'), max),
    lines,
    class: ends ? ended.class : (said?.class ?? 'silent'),
    rule: leader !== undefined && isMatched(leader) ? leader.candidate.rule.name : null,
  };
}

/** The candidates, the one that leads first. */
function lead(ranked: readonly Ranked[]): Ranked[] {
  const leader = ranked.find(isCause) ?? ranked.find(isTrusted) ?? ranked[0];
  return leader === undefined ? [] : [leader, ...ranked.filter((other) => other !== leader)];
}

function isCause(each: Ranked): boolean {
  return each.candidate.rule.use !== 'wrapper' && isTrusted(each);
}

function isTrusted({ score, candidate }: Ranked): boolean {
  return score >= TRUSTED[candidate.rule.use];
}

/** Than how the step ended: a line without a letter says nothing, unless a rule knows it. */
function saysMore(each: Ranked): boolean {
  return isMatched(each) || /\p{L}/u.test(each.candidate.row.trimmed);
}

/** Below this score the line may only look like a cause: how the step ended is added. */
const CERTAIN = 60;

/** Kinds of trouble that already say how the step was ended from outside. */
const TELLS_END: ReadonlySet<ErrorClass> = new Set(['memory', 'crash', 'timeout']);

/** The extraction of a log that is in memory. */
export function extractError(log: string | Uint8Array, options: ExtractOptions = {}): Extraction {
  const extractor = createExtractor(options);
  extractor.push(log);
  return extractor.end();
}
