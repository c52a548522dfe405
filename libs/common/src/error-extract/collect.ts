/** Reads a log once and keeps, in bounded memory, the lines that may tell the cause. */
import { classify, type Match } from './classify.ts';
import {
  createLane,
  feed,
  followTraceback,
  type Lane,
  openCandidate,
  remember,
} from './lane-state.ts';
import { createLaneSplitter } from './lanes.ts';
import { marks } from './marks.ts';
import type { Candidate, Row } from './row.ts';
import { rule } from './rule.ts';
import { createShapeCounts, lineShape, type ShapeCounts } from './shape.ts';

const LANES = 64;
/** Candidates kept of one rule: the first and the last ones of its steps. */
const PER_RULE = 14;
const FIRST_OF_STEP = 5;
/** Candidates kept of one shape; the others are only counted. */
const SAME_KEPT = 3;
/** Lines kept for a log in which no rule matches: those whose shape had been rare until then. */
const RARE_KEPT = 60;
const RARE_SHAPE = 2;

/** What npm and boxes put before every line of a message. */
const QUOTED = /^(?:npm (?:error|ERR!)|[│┃])(?= |$)/;

const PYTHON = rule('python', 'exception', 92, /\S/, { pick: 'last' });
const ANNOUNCED = rule('announced', 'error', 70, /\S/);

export interface Collected {
  readonly candidates: readonly Candidate[];
  readonly rare: readonly { row: Row; aftermath: boolean }[];
  /** How often the shapes of all lines were seen. */
  readonly counts: ShapeCounts;
  /** How often the shapes of candidates were seen. */
  readonly repeats: ShapeCounts;
  readonly lastRow: Row | null;
}

export interface Collector {
  add(text: string, line: number, overwritten: boolean): void;
  finish(): Collected;
}

/** `redact` runs on a line before any part of it is kept beyond its own neighbourhood. */
export function createCollector(redact: (text: string) => string): Collector {
  const split = createLaneSplitter();
  const counts = createShapeCounts();
  const lanes = new Map<string, Lane>();
  const byRule = new Map<string, Candidate[]>();
  const repeats = createShapeCounts();
  let rare: { row: Row; aftermath: boolean }[] = [];
  let lastRow: Row | null = null;
  let epoch = 0;
  let aftermath = false;
  let cache = new WeakMap<Row, Row>();

  function keep(row: Row): Row {
    let kept = cache.get(row);
    if (kept === undefined) {
      kept = {
        ...row,
        text: own(redact(row.text)),
        whole: own(redact(row.whole)),
        trimmed: own(redact(row.trimmed)),
      };
      cache.set(row, kept);
    }
    return kept;
  }

  function laneOf(name: string): Lane {
    let lane = lanes.get(name);
    if (lane !== undefined) return lane;
    lane = createLane();
    if (lanes.size >= LANES) {
      const oldest = lanes.keys().next().value;
      if (oldest !== undefined) lanes.delete(oldest);
    }
    lanes.set(name, lane);
    return lane;
  }

  function offer(
    match: Match,
    row: Row,
    lane: Lane,
    name: string,
    extra: Candidate['around'],
  ): void {
    // The same line again, as retries print it, is only counted.
    const shape = lineShape(row.whole);
    const times = repeats.add(shape);
    const kept = byRule.get(match.rule.name) ?? [];
    if (times > SAME_KEPT) {
      const same = kept.findLastIndex((other) => other.shape === shape);
      if (match.rule.pick === 'first' && same >= 0) return;
      if (same >= 0) kept.splice(same, 1);
    }
    const candidate: Candidate = {
      ...match,
      row: keep(row),
      shape,
      lane: name,
      epoch,
      aftermath,
      before: lane.ring.map(keep),
      after: [],
      causes: [],
      around: {
        test: lane.test === undefined ? undefined : keep(lane.test),
        file: lane.file === undefined ? undefined : keep(lane.file),
        step: lane.step === undefined ? undefined : keep(lane.step),
        ...extra,
      },
    };
    const inStep = kept.filter((other) => other.epoch === epoch).length;
    if (inStep > FIRST_OF_STEP) kept.pop();
    kept.push(candidate);
    if (kept.length > PER_RULE) kept.splice(2, 1);
    byRule.set(match.rule.name, kept);
    openCandidate(lane, candidate);
  }

  function matchOf(row: Row, lane: Lane): { match: Match | null; extra: Candidate['around'] } {
    let match = classify(row.whole);
    const extra: { -readonly [key in keyof Candidate['around']]: Candidate['around'][key] } = {};
    if (followTraceback(lane, row)) {
      if (match?.rule.use !== 'wrapper') match = { rule: PYTHON, score: 92 };
      extra.frame = lane.traceback?.frame && keep(lane.traceback.frame);
      extra.chain = lane.chained ? lane.raised : [];
      lane.raised = [...extra.chain, keep(row)].slice(0, 4);
      lane.chained = false;
      lane.traceback = null;
    } else if (
      /^(?:The above exception was the direct|During handling of the above)/.test(row.trimmed)
    ) {
      lane.chained = true;
    }
    return { match, extra };
  }

  function announced(row: Row, lane: Lane, match: Match | null): Match | null {
    const said = lane.announcer;
    if (said === null || (match !== null && match.rule.use === 'announce')) return match;
    if (marks.isCode(row.trimmed) || marks.isPlace(row.trimmed) || marks.isPassing(row.trimmed)) {
      return match;
    }
    if (match?.rule.use === 'wrapper') return match;
    lane.announcer = null;
    const score = said.match.score;
    if (match !== null && match.score >= score) return match;
    return { rule: match !== null && match.rule.use === 'cause' ? match.rule : ANNOUNCED, score };
  }

  return {
    add(text, line, overwritten) {
      const spoken = split(text);
      const inner = spoken.body.replace(QUOTED, '');
      const trimmed = inner.trim();
      const lane = laneOf(spoken.lane);
      if (trimmed === '') {
        if (!overwritten) lane.gap = true;
        if (lane.captured?.toBlank === true) lane.captured = null;
        return;
      }
      const indent = inner.length - inner.trimStart().length;
      const row: Row = { line, text, whole: spoken.body.trim(), trimmed, indent, gap: lane.gap };
      if (overwritten) {
        const match = classify(row.whole);
        if (match !== null && match.score >= 80) offer(match, row, lane, spoken.lane, {});
        return;
      }
      lane.gap = false;
      lastRow = row;
      if (marks.isAftermath(trimmed)) aftermath = true;
      if (counts.add(trimmed) <= RARE_SHAPE) {
        rare.push({ row, aftermath });
        if (rare.length > 2 * RARE_KEPT) rare = rare.slice(-RARE_KEPT);
      }
      feed(lane, row, keep);
      if (lane.captured !== null && !lane.captured.toBlank && indent <= lane.captured.indent) {
        lane.captured = null;
      }
      if (marks.isStep(trimmed)) epoch += 1;
      const { match: plain, extra } = matchOf(row, lane);
      const announcer = lane.announcer?.row;
      const match = announced(row, lane, plain);
      if (match !== null) {
        const said =
          announcer !== undefined && lane.announcer === null ? { announcer: keep(announcer) } : {};
        const score = lane.captured === null ? match.score : match.score - 40;
        offer({ rule: match.rule, score }, row, lane, spoken.lane, { ...extra, ...said });
        if (match.rule.use === 'announce') {
          lane.announcer = { row, match: { score: match.score }, name: match.rule.name };
        }
        if (match.rule.use === 'test') {
          lane.test = row;
          lane.since = 0;
        }
      }
      if (/^(?:=== RUN|# Subtest:|\[ RUN)/.test(trimmed)) {
        lane.test = row;
        lane.since = 0;
      }
      if (marks.isCaptured(trimmed)) {
        lane.captured = { indent, toBlank: /^std(?:err|out) \|/.test(trimmed) };
      }
      remember(lane, row);
    },
    finish() {
      cache = new WeakMap();
      rare = rare
        .slice(-RARE_KEPT)
        .map(({ row, aftermath: late }) => ({ row: keep(row), aftermath: late }));
      return {
        candidates: [...byRule.values()].flat(),
        rare,
        counts,
        repeats,
        lastRow: lastRow === null ? null : keep(lastRow),
      };
    },
  };
}

/** A copy that does not hold on to the piece of the log it was cut from; at most 2000 units. */
function own(text: string): string {
  return Buffer.from(text.slice(0, 2000), 'utf16le').toString('utf16le');
}
