/** What a line is, remembered by shape, so that the many lines of one shape cost one look. */
import { classify, type Match } from './classify.ts';
import { marks } from './marks.ts';
import type { Row } from './row.ts';
import { readLabels } from './severity.ts';
import { KEYED } from './shape.ts';

/** What a line is, as far as rules and marks tell. */
export interface Kind {
  readonly match: Match | null;
  readonly aftermath: boolean;
  readonly step: boolean;
  readonly where: boolean;
  readonly file: boolean;
  readonly captured: boolean;
  /** Whether the line calls itself a warning. */
  readonly warns: boolean;
  /** Whether a runner says that it begins this test. */
  readonly begins: boolean;
}

const WARNS = /warn|deprec|achtung|attention/i;
const TEST_BEGINS = /^(?:=== RUN|# Subtest:|\[ RUN)/;
/** Shapes remembered. */
const REMEMBERED = 10_000;
/** Lines whose numbers matter, which a shape masks. */
const NUMBERED = /exit|code|status|signal|return|HTTP|\b[45]\d\d\b|\b0\b/i;

/** Looks at the lines of one log. */
export function createKinds(): (row: Row) => Kind {
  const known = new Map<number, Kind>();
  return (row) => {
    const { whole, key } = row;
    const before = known.get(key);
    if (before !== undefined) return before;
    const kind = look(row);
    if (known.size < REMEMBERED && whole.length <= KEYED && !NUMBERED.test(whole)) {
      known.set(key, kind);
    }
    return kind;
  };
}

/** Most lines: nothing to remember them by. */
const PLAIN: Kind = {
  match: null,
  aftermath: false,
  step: false,
  where: false,
  file: false,
  captured: false,
  warns: false,
  begins: false,
};

function look({ whole, trimmed }: Row): Kind {
  const kind: Kind = {
    // Inside a drawn box the message is what the box holds; `npm error` says something itself.
    match: classify(/^[│┃]/.test(whole) ? trimmed : whole),
    aftermath: marks.isAftermath(trimmed),
    step: marks.isStep(trimmed),
    where: marks.isWhere(trimmed),
    file: marks.isFileHeader(trimmed),
    captured: marks.isCaptured(trimmed),
    warns: WARNS.test(whole) && readLabels(whole).severity === 'warning',
    begins: TEST_BEGINS.test(trimmed),
  };
  return Object.values(kind).some(Boolean) ? kind : PLAIN;
}
