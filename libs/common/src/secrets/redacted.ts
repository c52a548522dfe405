/** Replaces a secret. */
export const REDACTED = '[REDACTED]';

/** Characters of a text from one index to before another. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** The text with each range replaced; those that overlap are one. */
export function withoutRanges(text: string, ranges: TextRange[]): string {
  let cleaned = '';
  let at = 0;
  for (const { from, to } of ranges.sort((a, b) => a.from - b.from)) {
    if (to <= at) continue;
    if (from >= at) cleaned += text.slice(at, from) + REDACTED;
    at = to;
  }
  return cleaned + text.slice(at);
}
