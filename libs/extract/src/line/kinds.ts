/** What a line is, remembered by shape, so that the many lines of one shape cost one look. */
import { classify } from './classify.ts';
import { marks } from './marks.ts';
import type { Kind, Row } from './row.ts';
import { KEYED } from './shape.ts';

const TEST_BEGINS = /^(?:=== RUN|# Subtest:|\[ RUN)/;
/** Lines whose numbers matter, which a shape masks. */
const NUMBERED = /exit|code|status|signal|return|HTTP|\b[45]\d\d\b|(?<![\d.])0(?![\d.])/i;

/** What the line is; a shape's first line answers for the others. */
export function kindOf(row: Row): Kind {
  const { whole, shape } = row;
  if (shape.kind !== undefined) return shape.kind;
  const kind = look(row);
  if (whole.length <= KEYED && !NUMBERED.test(whole)) shape.kind = kind;
  return kind;
}

/** Most lines: nothing to remember them by. */
const PLAIN: Kind = {
  match: null,
  aftermath: false,
  step: false,
  where: false,
  file: false,
  captured: false,
  begins: false,
};

function look({ whole, trimmed, level }: Row): Kind {
  const kind: Kind = {
    // Inside a drawn box the message is what the box holds; `npm error` says something itself.
    match: classify(/^(?:[│┃|]|!!)/.test(whole) ? trimmed : whole, level),
    aftermath: marks.isAftermath(trimmed),
    step: marks.isStep(trimmed),
    where: marks.isWhere(trimmed),
    file: marks.isFileHeader(trimmed),
    captured: marks.isCaptured(trimmed),
    begins: TEST_BEGINS.test(trimmed),
  };
  return Object.values(kind).some(Boolean) ? kind : PLAIN;
}
