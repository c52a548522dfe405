/** Recognises the first, the last and the header lines of a private key. */

/** In the first and the last line of every key. */
export const HINT = 'PRIVATE KEY';

/** All `-----BEGIN …-----` and `-----END …-----` in a line, in order, each with its place. */
export function marksOf(text: string) {
  const pattern = /-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g;
  return [...text.matchAll(pattern)].map(({ 0: all, 1: word, index }) => ({
    at: index,
    to: index + all.length,
    ends: word === 'END',
  }));
}

/** A header line before the base64. */
export function isHeader(text: string): boolean {
  return /^[\s"']{0,40}(?:Proc-Type|DEK-Info|Key-Info|Content-Domain|Originator-[\w-]{1,40}|Recipient-[\w-]{1,40}|Issuer-[\w-]{1,40}|MIC-Info|Version|Comment|Subject|Hash|Charset|MessageID|x-[\w-]{1,40}): /i.test(
    text,
  );
}

/** The end of a prefix like this one, in which numbers and spaces may differ; -1 without one. */
export function behind(prefix: string, text: string): number {
  let at = 0;
  for (let from = 0; from < prefix.length; ) {
    const kind = kindAt(prefix, from);
    if (kind === 'other') {
      if (prefix[from] !== text[at]) return -1;
      from += 1;
      at += 1;
      continue;
    }
    if (kindAt(text, at) !== kind) return -1;
    while (kindAt(prefix, from) === kind) from += 1;
    while (kindAt(text, at) === kind) at += 1;
  }
  return at;
}

function kindAt(text: string, at: number): 'digit' | 'space' | 'other' {
  const unit = text.charCodeAt(at);
  if (unit >= 48 && unit <= 57) return 'digit';
  return unit === 32 || unit === 9 ? 'space' : 'other';
}
