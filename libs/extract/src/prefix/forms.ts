/** The prefixes that platforms, runtimes, CI systems and loggers put before the text of a line. */

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const DATE = `(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:\\d{4}[-/.]\\d\\d[-/.]\\d\\d|\\d\\d?[-/. ](?:\\d\\d?|${MONTH})[-/. ]\\d{4}|${MONTH} {1,2}\\d{1,2}(?:,? \\d{4})?|\\d{1,2} ${MONTH}|\\d\\d-\\d\\d)`;
const ZONE = ' ?(?:Z|UTC|GMT|[A-Z]{1,3}[SD]T|CES?T|[+-]\\d\\d:?\\d\\d)(?![\\w:])';
const FRACTION = '(?:[.,]\\d{1,9})?';
/** A date with a clock, a clock with seconds, or seconds since 1970. */
const TIME = `(?:${DATE}[T _:,]{1,2}\\d\\d?:\\d\\d(?::\\d\\d)?${FRACTION}(?: ?[AP]M)?(?:${ZONE})?(?: \\d{4})?|\\d\\d?:\\d\\d(?::\\d\\d${FRACTION}(?: ?[AP]M)?(?:${ZONE})?| ?[AP]M)|1[5-9]\\d{8}(?:\\.\\d{1,9}|\\d{3}|\\d{6}|\\d{9})?)(?![\\w/%])`;

const LEVELS =
  'trace|debug|dbug|debu|debg|dbg|verbose|vrb|information|info|inf|note|notice|log|warning|warn|wrn|error|erro|err|fatal|ftl|critical|crit|severe|alert|emerg|panic';
const CAPITALS = LEVELS.toUpperCase();
const ANY_LEVEL = `(?:${LEVELS}|${CAPITALS}|Trace|Debug|Verbose|Info|Note|Information|Warning|Warn|Error|Fatal|Critical|fail|trce)`;
const ID =
  '(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]{0,40}\\d)[0-9a-f]{6,40}|\\d{1,10}(?:[-#:.]\\d{1,10})?)';
/** Words in the place of a speaker that do not name one. */
export const NOT_SPEAKER = new RegExp(
  `"?\\[?(?:(?:${LEVELS}|${CAPITALS}|Note|hint|fail|failed|FAIL|FAILED|ok|OK|pass|PASS|passed|PASSED|done|skip|SKIP|g?make|std(?:out|err)|0\\d{1,9}|\\d{3,10})[:\\]|[ ]|[\\w./-]{0,60}\\.(?:conf|cf|cnf|cfg|ini|ya?ml|json|toml|xml|[a-z]{1,3})\\[|[^ ]{0,60}\\.\\w{1,4}:\\w|[\\w@./-]{0,60} (?:error|warning|fail|failed|failure|note):)`,
  'uy',
);
const END = '(?=[ \\t]|$)';

/**
 * One column of a prefix. What it says is in the groups of its pattern: `speaker`, `level`, `job`, `partial` (the
 * line goes on in the next one) and `inside`, which may hold a level.
 */
export interface PrefixForm {
  readonly name: string;
  /** Cut off wherever it stands; any other form only if nearly all lines of its speaker have it there. */
  readonly sure: boolean;
  readonly pattern: RegExp;
  /** What every line with it holds: searching it costs less than the pattern. */
  readonly needs: string;
}

function form(name: string, pattern: string, sure = false, needs = ''): PrefixForm {
  return { name, sure, needs, pattern: new RegExp(`[ \\t]*(?:${pattern})[ \\t]?`, 'uy') };
}

/** The first form that fits counts. */
export const PREFIX_FORMS: readonly PrefixForm[] = [
  form(
    'job',
    `(?<job>(?![^\\t]{0,100}\\d:\\d\\d:\\d\\d)[^\\t]{1,100}(?:\\t[^\\t]{1,300})?)(?<! )\\t(?=[^\\w\\s]{0,3}${TIME})`,
    true,
    '\t',
  ),
  form(
    'priority',
    `<\\d{1,3}>(?:1 ${TIME}(?: \\S{1,128}){4} (?:-|\\[[^\\]]{1,200}\\])(?= |$))?`,
    true,
  ),
  form('nest', `(?<speaker>\\[\\w{1,40}\\]) \\d{1,7} {1,2}- (?=${TIME})`, true, ' - '),
  form('klog', '(?<level>[IWEF])\\d{4}(?= \\d\\d:\\d\\d:\\d\\d)', true),
  form('ruby', '(?<level>[A-Z]),(?= \\[\\d{4}-)', true),
  form('time', `[^\\x00-\\x7f]{0,3}${TIME}:?`, true),
  form(
    'bracketed time',
    `\\[${TIME}:?(?:[ ,](?<level>${ANY_LEVEL}))?(?<inside>[^\\]\\n]{0,60})\\]:?`,
    true,
  ),
  form('elapsed', '\\[ {0,12}\\d{1,9}\\.\\d{3,6}\\]', true),
  form('waited', '[\\w ]{3,60}\\.{3,80}(?=\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:)', true, '....'),
  form('step', '(?<speaker>#\\d{1,4})(?: \\d{1,6}\\.\\d{1,3}(?= |$)|(?= |$))', true),
  form('flag', 'std(?:out|err) (?:F|(?<partial>P))|\\d\\d[OE](?:\\+|(?= |$))', true),
  form(
    'bar',
    `(?<!\\|)(?<speaker>\\d{1,3}\\|[\\w.-]{1,40}|(?=[^|│]{0,60}[A-Za-z])[\\w@./:-]{0,59}[\\w@./-]) {0,30}[|│]${END}`,
    true,
  ),
  form('named', `(?<speaker>[\\w.@/-]{1,60}\\[[\\w.-]{1,40}\\]):${END}`, true, ']:'),
  form(
    'target',
    `(?<speaker>@?[\\w./-]{1,60}:[a-z][\\w-]{0,30}(?::[a-z][\\w-]{0,30}){0,4}):${END}`,
    true,
    ':',
  ),
  form(
    'script',
    `(?<speaker>[\\w@.-]{1,60}/[\\w@./-]{1,60} [a-z][\\w:-]{0,30})(?::${END}|\\$(?= ))`,
    true,
    '/',
  ),
  form('remote', `(?<speaker>remote):${END}`, true),
  form('syslog', `[\\w.-]{1,60} (?<speaker>[\\w.@/-]{1,60}\\[[\\w.-]{1,40}\\]):${END}`, true, ']:'),
  form('build step', `Step #\\d{1,4} - (?<speaker>"[^"]{1,60}"):${END}`, true, 'Step #'),
  form('TAI64N', '@[0-9a-f]{24}(?=[ \\t]|$)', true),
  form('capistrano', '\\*\\* (?<speaker>\\[(?:out|err) :: [^\\]]{1,60}\\])'),
  form('package', `(?<speaker>@[\\w.-]{1,40}/[\\w.-]{1,60}):${END}`, false, '@'),
  form('bracketed level', `\\[[\\w.-]{1,24}:(?<level>${ANY_LEVEL})\\]`),
  form('boxed level', `[[(<] {0,4}(?<level>${ANY_LEVEL}) {0,8}[\\])>]:?`),
  form('level:', `(?:\\w{1,24}\\.)?(?<level>${ANY_LEVEL}):${END}`, false, ':'),
  form('level:name:', `(?<level>${CAPITALS}):[\\w.]{1,60}:`, false, ':'),
  form('level', `(?<level>${CAPITALS})(?=[ \\t|>]|$)>?`),
  form('letter', '(?<level>[IWEFDV])(?= {1,3}\\w|$)'),
  form(
    'label',
    `(?<speaker>\\[(?:(?=[^\\]]{0,60}[A-Za-z])@?\\w[\\w./: @-]{0,60}|\\d{1,2})\\]):?(?=[ \\t[]|$)`,
  ),
  form('[id]', `[[(](?:${ID}|pid \\d+(?::tid \\d+)?|[\\d.]{7,15})[\\])]:?`),
  form('brackets', '[[(][^\\]\\n)]{1,60}[\\])]:?'),
  form('mark', '\\||(?:[>–—:*│]|-{1,3})(?=[ \\t]|$)'),
  form('instance', '(?<speaker>[\\w.-]{1,40}\\[[\\w.-]{1,40}\\])(?=[ \\t]|$)'),
  form('name:', `(?<speaker>[\\w.-]{1,60}):${END}`, false, ':'),
  form('id', `${ID}:?(?=[ \\t|]|$)`),
  form('pair', '[\\w.]{1,20}=[^\\s=|"]{1,60}(?=[ |]|$)'),
  form(
    'place',
    '[\\w./-]{1,60}(?:\\.\\w{1,6}|:\\w{1,40}):\\d{1,6}(?:\\]|(?= {0,2}\\t| {1,2}[-–|]|$))',
  ),
  form(
    'dotted',
    '[A-Za-z][\\w$]{0,60}(?:(?:\\.|::)[\\w$]{1,60}){1,12}(?:\\[\\d{1,3}\\])?:?(?=[ \\t|]|$)',
  ),
  form('made name', '(?=\\S{0,60}(?:\\d|\\w-\\w))[\\w./-]{1,60}(?=[ \\t]|$)'),
  form('word', '[^\\s|]{1,60}(?=[ \\t|]|$)'),
];

/** A level among other words. */
export const LEVEL_INSIDE = new RegExp(`(?:^|\\W)(${ANY_LEVEL})(?!\\w)`);
