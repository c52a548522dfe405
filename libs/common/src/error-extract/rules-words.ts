/** The last resort: labels without a known message, and words of failure. */
import { rule } from './rule.ts';
import { SOURCE } from './rules-code.ts';

const WEAK = { weak: true, pick: 'last' } as const;

/** Tried from top to bottom. */
export const WORDS = [
  rule(
    'located-line',
    'compile',
    74,
    new RegExp(
      `^(?:\\.{0,2}/)?[^\\s:]{1,240}\\.${SOURCE}:\\d+: (?!\\s{0,4}(?:warning|note|info|hint|W|C|R)\\b)\\S`,
    ),
    { on: 'body', pick: 'last' },
  ),
  rule(
    'cannot',
    'error',
    62,
    /\b(?:cannot|can't|can not|could not|couldn't|unable to|failed to|fails to|failure to|not found|no such|does(?: not|n't) exist|do(?: not|n't) exist|denied|refused|unresolved|giving up|gave up|not answered|refusing to|is not (?:defined|a function|iterable|installed|assignable|valid)|undeclared|undefined (?:method|variable|local|function|name|constant|is not)|has no (?:member|attribute|method|property|field)|unknown key)\b/i,
    WEAK,
  ),
  rule(
    'phrase',
    'error',
    56,
    /(?<![\w/.-])(?:undefined|unexpected|unknown|invalid|missing|mismatch|unsupported|unrecognized|conflicts?|already exists|expired|crash(?:ed)?|corrupt(?:ed)?|too (?:large|long|many|old|new|low|small|short|high|few|big)|not (?:allowed|permitted|supported|valid|available|ready|reachable|enough)|unreachable|unavailable|exceed(?:s|ed)|out of range|violat(?:es|ion)|no matching|illegal|wrong (?:#|number|type|arguments?)|malformed|incompatible|rejected|unhealthy|inconsistent|stale|duplicate|must (?:be|not|have)|bad (?:request|gateway|value))(?![\w/-]|\.\w)/i,
    WEAK,
  ),
  rule(
    'word',
    'error',
    46,
    /(?<![\w/.-])(?:errors?|failed|fails|failing|failure|fatal|exception|abort(?:ed|ing)?)(?![\w/-]|\.\w)|(?:Error|Exception)\b|[a-z]Error:|\bErr:|FEHLER|ERREUR/i,
    WEAK,
  ),
];

/** A line whose label says error but whose message no rule knows. */
export const LABELLED = rule('labelled', 'error', 72, /\S/);
