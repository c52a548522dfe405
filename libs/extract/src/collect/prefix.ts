/**
 * Strips what runners of several programs put before a line: its speaker and its time. The lines of
 * one speaker are a stream; an error's context comes from its own stream.
 */

/** A line without its prefixes. */
export interface Spoken {
  /** The speaker; '' without one. */
  readonly stream: string;
  /** The job, in a log of several; else ''. */
  readonly job: string;
  readonly body: string;
}

const STAMP =
  /^[^\x00-\x7f]{0,3}(?:\d{10}(?:\.\d{1,6})?:(?= )|\[?\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?\]?:?(?: \[\d+\])?|\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?:?|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: [\w.-]{1,64})?(?= [\w.@/-]{1,64}(?:\[\d+\])?:))(?:[ \t]|$)/;

const TIMES =
  /\[?(?:\d{4}[-/.]\d\d[-/.]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?\]? ?/g;

/** What servers put between the time and the level: the zone's name, the process or the thread. */
const AFTER_TIME =
  /^(?:(?!ERROR|FATAL|WARN|INFO|DEBUG|NOTE|TRACE)[A-Z]{3,5} (?=\[))?(?:\[\d{1,10}(?:-\d{1,10})?\]:? (?=[A-Z]{3,12}:)|\d{1,20} (?=\[[A-Z]))?/;

/** What `gh run view --log` puts before every line: the job and its step; the time follows. */
const JOB = /^([^\t\n]{1,100}\t[^\t\n]{1,300})\t(?=[^\w\s]{0,3}\d{4}-\d\d-\d\dT)/;

/** Words in the place of a speaker that are not one. */
const NO_SPEAKER =
  /^(?:error|err|fatal|severe|critical|crit|emerg|alert|warn|warning|info|notice|debug|trace|verbose|note|hint|fail|failed|ok|pass|passed|done|skip|g?make\[\d+\]|stdout|stderr|\d+\/\d+|0\d+|\d{3,}|[\d.]+%?)$/i;

/** `sign` is a character that the pattern needs: a quick test, as most lines have none of them. */
const SPEAKERS: readonly { pattern: RegExp; sign: string; sure: boolean }[] = [
  // docker compose, foreman, honcho: `web-1  | text`
  { pattern: /^([\w@./:-]{1,60})\s{0,30}\| ?/, sign: '|', sure: true },
  // pm2: `0|shop  | text`
  { pattern: /^(\d{1,3}\|[\w.-]{1,40})\s{0,30}\| ?/, sign: '|', sure: true },
  // docker build: `#12 1.234 text`
  { pattern: /^(#\d{1,4}) (?:\d+\.\d+(?: |$))?/, sign: '#', sure: true },
  // turbo: `@m/api:build: text`
  {
    pattern: /^(@?[\w./-]{1,60}:[a-z][\w-]{0,30}(?::[a-z][\w-]{0,30})*): ?/,
    sign: ':',
    sure: true,
  },
  // pnpm -r: `packages/api build: text`
  {
    pattern: /^([\w@.-]{1,60}\/[\w@./-]{1,60} [a-z][\w:-]{0,30})(?:: ?|\$ )/,
    sign: '/',
    sure: true,
  },
  // git's far side: `remote: text`
  { pattern: /^(remote):(?: {1,8}|$)/, sign: ':', sure: true },
  // syslog and heroku: `shop[311]: text`, `app[web.1]: text`
  { pattern: /^([\w.@/-]{1,60}\[[\w.-]{1,40}\]):(?: |$)/, sign: ']', sure: true },
  // concurrently, yarn workspaces, ant: `[api] text`; only when it has spoken before
  { pattern: /^\s{0,12}\[(@?[\w./:-]{1,40})\]:? /, sign: ']', sure: false },
];

/** A bracketed label counts as a speaker from its third line; up to LABELS are followed. */
const HEARD_BEFORE = 2;
const LABELS = 200;

/** The prefix of a line without its times: the message that shows the line has its own. */
export function withoutTimes(prefix: string): string {
  return prefix.replace(JOB, '').replace(STAMP, '').replace(TIMES, '');
}

/** Progress dots, interrupted by a line of another program. */
const WAITED = /^[\w ]{3,60}\.{3,80}(?=\d{4}-\d\d-\d\d[T ]\d\d:)/;

/** A process and a date in any order, up to the level that follows them. */
const DATED =
  /^(?:\[[\w-]{1,20}\] {1,4})?(?=[^A-Za-z]{0,40}\d:\d\d)[\d\s:,./+|()TZAPM-]{8,60}(?=(?:ERROR|FATAL|CRITICAL|SEVERE|WARN(?:ING)?|INFO|DEBUG|LOG|NOTICE|TRACE|VERBOSE)\b)/;

const BRACKET = 0x5b;
const ZERO = 0x30;
const NINE = 0x39;

function unstamped(text: string): string {
  // Most lines have neither sign.
  let body = text.includes('...') ? text.replace(WAITED, '') : text;
  const first = body.charCodeAt(0);
  if (first === BRACKET || (first >= ZERO && first <= NINE)) body = body.replace(DATED, '');
  body = body.replace(STAMP, '');
  return body === text ? text : body.replace(AFTER_TIME, '');
}

/** Splits lines of one log; it remembers which bracketed labels have spoken. */
export function createPrefixSplitter(): (text: string) => Spoken {
  const heard = new Map<string, number>();
  return (text) => {
    const job = text.includes('\t') ? JOB.exec(text) : null;
    const outer = job?.[1] ?? '';
    const name = outer.split('\t', 1)[0] ?? '';
    const line = job === null ? text : text.slice(job[0].length);
    const once = unstamped(line);
    let body = once === line ? line : unstamped(once);
    const start = body.slice(0, 120);
    for (const { pattern, sign, sure } of SPEAKERS) {
      if (!start.includes(sign)) continue;
      const found = pattern.exec(body);
      const speaker = found?.[1];
      if (found === null || speaker === undefined || !isSpeaker(speaker)) continue;
      if (!sure) {
        const times = heard.get(speaker) ?? 0;
        if (times > 0 || heard.size < LABELS) heard.set(speaker, times + 1);
        if (times < HEARD_BEFORE) break;
      }
      body = unstamped(body.slice(found[0].length));
      return { stream: outer + speaker, job: name, body };
    }
    return { stream: outer, job: name, body };
  };
}

const PLACE_NAME = /\.(?:conf|cf|cnf|cfg|ini|ya?ml|json|toml|xml|[a-z]{1,3})\[\d+\]$/;

function isSpeaker(name: string): boolean {
  if (NO_SPEAKER.test(name)) return false;
  const colon = name.indexOf(':');
  if (colon > 0 && NO_SPEAKER.test(name.slice(0, colon))) return false;
  const space = name.indexOf(' ');
  if (space > 0 && NO_SPEAKER.test(name.slice(space + 1))) return false;
  // `clients.conf[290]` is a place, `error[E0308]` a label.
  if (PLACE_NAME.test(name) || NO_SPEAKER.test(name.replace(/\[.*/, ''))) return false;
  return /[A-Za-z#]|^\d{1,2}$/.test(name) && !/\.\w{1,4}:\w/.test(name);
}
