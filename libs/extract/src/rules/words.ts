/** The last resort: labels without a known message, and words of failure. */

import { rule, SOURCE } from './rule.ts';

/** Tried from top to bottom. */
export const WORDS = [
  rule(
    { name: 'located-line', class: 'compile', score: 74, on: 'body', pick: 'last' },
    new RegExp(
      `^(?:\\.{0,2}/)?[^\\s:]{1,240}\\.${SOURCE}:\\d+: (?!\\s{0,4}\\[?(?:warning|note|info|hint|debug|trace|W|C|R)\\b)\\S`,
    ),
  ),
  // A row of a table of events: a status or a kind, the thing, and why.
  rule(
    { name: 'event', class: 'config', score: 80, on: 'line' },
    /^[A-Z]{3,20}_FAILED +\S{1,200} +\S.{0,200}\s\S|^\d\S{0,20} +Warning +(?!BackOff )[A-Z]\w{2,40} +\S{1,200} +\S/,
  ),
  // What is and what was asked for, in one sentence.
  rule(
    { name: 'contradiction', class: 'error', score: 68, weak: true },
    /\b(?:is|are|was|were|has|have|had|got|found|expect(?:s|ed)?|requires?|needs?|wants?|declares?|supports?|specif(?:ies|ied))\b.{1,160}(?:,|;| -) but\b|\b(?:can|may|must) only be\b|\bcan only \w+ .{2,120} (?:when|if)\b|\brequires? .{1,60}(?:,|;| -) (?:found|got|have|is)\b/i,
  ),
  rule(
    { name: 'cannot', class: 'error', score: 62, pick: 'last', weak: true },
    /^No (?:\S{1,40} ){1,6}(?:found|specified|provided|passed|matched)\b|\b(?:cannot|can't|can not|could not|couldn't|unable to|failed to|failed \w{2,20}ing|[Ee]rror (?:while|when|during|occurred(?: while| when| during)?) \w{2,20}ing|fails to|failure to|not found|no such|[Ee]rror \w{2,20}ing|does(?: not|n't) exist|do(?: not|n't) exist|denied|refused|unresolved|giving up|gave up|not answered|refusing to|is not (?:defined|a function|iterable|installed|assignable|valid)|undeclared|undefined (?:method|variable|local|function|name|constant|is not)|has no (?:member|attribute|method|property|field)|unknown key|not known|not recogni[sz]ed|doesn't look like|do(?:es)?(?: not|n't) (?:match|support|contain|look|appear|conform|satisfy|implement|accept|allow|belong|have|fit)|did(?: not|n't) \w|won't|neither|not (?:in|an?) [\w.-]{2,20} (?:format|file|archive|image|directory|repository|number|object|command)|not (?:in|one of|among) (?:the |its )?(?:choices|allowed|list|set|enum|values|options))\b/i,
  ),
  rule(
    { name: 'phrase', class: 'error', score: 56, pick: 'last', weak: true },
    /(?<![\w/.-])(?:undefined|unexpected|unknown|invalid|missing|mismatch|unsupported|unrecognized|conflicts?|already (?:exists?|taken|defined|declared|in use|registered|running|taken|locked)|expired|crash(?:ed)?|corrupt(?:ed)?|out of bounds|overflow|deadlock|truncated|un(?:terminated|balanced|closed|matched|bound|set|readable|writable|parsable|processable|satisfiable|satisfied|resolvable|met|declared|registered|formatted)|insufficient|ambiguous|circular|cyclic|incorrect|incomplete|non-?existent|disallowed|prohibited|dead links?|broken (?:link|reference|anchor)s?|below the (?:required|minimum)|(?:below|less than|under|exceeds) the (?:threshold|limit)|(?:is|are|was) required|required (?:field|property|properties|argument|parameter|option|key|value|variable|env\w*|column|input|attribute)s?|too (?:large|long|many|old|new|low|small|short|high|few|big)|not (?:allowed|permitted|supported|valid|available|ready|reachable|enough)|unreachable|unavailable|exceed(?:s|ed)|out of range|violat(?:es|ion)|no matching|illegal|wrong (?:#|number|type|arguments?)|malformed|incompatible|bad|locked|blocked|revoked|immutable|dirty|outdated|out of (?:date|sync)|clash(?:es)?|collisions?|throttled|suspended|rejected|unhealthy|inconsistent|stale|duplicate|must (?:be|not|have|contain|match|start|end|install|update|upgrade|specify|provide|set|run)|should (?:be|not|have)|not (?:met|reached|found|set|implemented|installed|formatted|unique|known|recognised|recognized|match(?:ing)?|configured|registered|declared|empty|readable|writable|executable))(?![\w/-]|\.\w)/i,
    /[\w)'"] expected\.?$|\b[Ee]xpect(?:ed|ing|s) (?=[a-z'"`<({[\d-])/,
  ),
  // The second pattern: what a program mentions in passing and regrets later.
  rule(
    { name: 'word', class: 'error', score: 46, pick: 'last', weak: true },
    /(?<![\w/.-])(?:errors?|failed|fails|failing|failure|fatal|exception|abort(?:ed|ing)?)(?![\w/-]|\.\w)|(?:Error|Exception)\b(?![/.-]\w)|[a-z]Error:|\bErr:|FEHLER|ERREUR/i,
    /\b(?:is|are|was|were) empty\b|^0 (?:files|rows|variables|entries|matches|results|records|keys)\b|\busing (?:the )?(?:old|default|fallback|previous)\b|\b\d+ (?:commits?|versions?|revisions?) behind\b|\b(?:hours|days|weeks) old\b|\bdiffers? from\b|\b(?:is )?older than\b/i,
  ),
];
