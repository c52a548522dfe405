/**
 * Takes off what runners of several programs put before a line: who said it, and when. Lines of one
 * speaker are a lane; context of an error comes from its own lane.
 */

import { createLane, type Lane } from './lane-state.ts';

/** A line without its prefixes. `lane` is '' for a line that nobody signed. */
export interface Spoken {
  readonly lane: string;
  /** The job of a log of several jobs; '' of others. */
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

/** Words in the speaker's place that name no speaker. */
const NO_SPEAKER =
  /^(?:error|err|fatal|severe|critical|crit|emerg|alert|warn|warning|info|notice|debug|trace|verbose|note|hint|fail|failed|ok|pass|passed|done|skip|g?make\[\d+\]|stdout|stderr|\d+\/\d+|0\d+|\d{3,}|[\d.]+%?)$/i;

/** `sign` is a character that the pattern needs: most lines have none of them. */
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

/** A bracketed label is a speaker from its third line on, and at most this many are followed. */
const HEARD_BEFORE = 2;
const LABELS = 200;

/**
 * What stands before a line's body, without the times: they say nothing in a message that has its
 * own time, and take room.
 */
export function withoutTimes(prefix: string): string {
  if (prefix === '') return prefix;
  return prefix.replace(JOB, '').replace(STAMP, '').replace(TIMES, '');
}

/** Dots of one who waits, in the middle of whose line another one begins to speak. */
const WAITED = /^[\w ]{3,60}\.{3,80}(?=\d{4}-\d\d-\d\d[T ]\d\d:)/;

/** A process and a date in any order, up to the level that follows them. */
const DATED =
  /^(?:\[[\w-]{1,20}\] {1,4})?(?=[^A-Za-z]{0,40}\d:\d\d)[\d\s:,./+|()TZAPM-]{8,60}(?=(?:ERROR|FATAL|CRITICAL|SEVERE|WARN(?:ING)?|INFO|DEBUG|LOG|NOTICE|TRACE|VERBOSE)\b)/;

const BRACKET = 0x5b;
const ZERO = 0x30;
const NINE = 0x39;

function unstamped(text: string): string {
  // Asked for their signs first: most lines have neither.
  let body = text.includes('...') ? text.replace(WAITED, '') : text;
  const first = body.charCodeAt(0);
  if (first === BRACKET || (first >= ZERO && first <= NINE)) body = body.replace(DATED, '');
  body = body.replace(STAMP, '');
  return body === text ? text : body.replace(AFTER_TIME, '');
}

/** Splits lines of one log; it remembers which bracketed labels have spoken. */
export function createLaneSplitter(): (text: string) => Spoken {
  const heard = new Map<string, number>();
  return (text) => {
    const job = text.includes('\t') ? JOB.exec(text) : null;
    const outer = job?.[1] ?? '';
    const name = outer.split('\t', 1)[0] ?? '';
    let body = unstamped(unstamped(text.slice(job?.[0].length ?? 0)));
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
      return { lane: outer + speaker, job: name, body };
    }
    return { lane: outer, job: name, body };
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

/** Lanes followed at a time; the one that began first is forgotten for another. */
const LANES = 64;

/** Finds or begins the lane of a speaker. */
export function createLanes(): (name: string) => Lane {
  const lanes = new Map<string, Lane>();
  return (name) => {
    let lane = lanes.get(name);
    if (lane !== undefined) return lane;
    lane = createLane();
    const oldest = lanes.keys().next().value;
    if (lanes.size >= LANES && oldest !== undefined) lanes.delete(oldest);
    lanes.set(name, lane);
    return lane;
  };
}
