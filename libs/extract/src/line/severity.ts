/** What a line says about its own weight, and the message under that label. */
import { ERROR_WORDS, INFO_WORDS, WARNING_WORDS } from '../rules/labels.ts';

/** The weight that a line gives itself; empty when it gives none. */
export type Severity = 'error' | 'warning' | 'info' | '';

/** A line without the labels that tools put before a message. */
export interface Labelled {
  readonly severity: Severity;
  /** Without indent, bracketed labels, marks and box drawing, but with words such as `error:`. */
  readonly body: string;
  /** Without any label. */
  readonly message: string;
}

const LABEL = new RegExp(
  [
    '(?<npm>(?:npm|lerna|gyp|pnpm|node-pre-gyp|sqlite3) (?:error|ERR!|warn(?:ing)?|WARN|verb|info|http|notice)(?: (?=\\S)|$))',
    `\\[ *(?<bracket>${ERROR_WORDS}|${WARNING_WORDS}|${INFO_WORDS}) *\\]:?(?= |$)`,
    '(?:##\\[|::)(?<annotation>error|warning|notice|debug)(?:\\]|(?: [^:\\n]{1,200})?::)',
    `(?<word>${ERROR_WORDS}|${WARNING_WORDS}|${INFO_WORDS})(?: ?:(?= |$)| {2,}| (?=- ))`,
    '(?<shout>(?:[-*#=]{1,3} )?(?:ERROR|FATAL|CRITICAL|SEVERE|WARN(?:ING)?|INFO|DEBUG|TRACE|VERBOSE|LOG(?= \\[)))(?:(?= )|[:!])',
    '(?<yarn>error|warning|info)(?= [A-Z"`\'])',
    '(?<letter>[EFe]): ',
    // klog and glog, and Chromium's: the level, the time, the place
    '(?<klog>[EFWI])\\d{4} \\d\\d:\\d\\d:\\d\\d[.\\d]{0,8} +\\d+ [^\\s\\]]{1,80}\\] ',
    '\\[[\\d:/.]{4,60}:(?<chromium>ERROR|FATAL|WARNING|INFO):[^\\]\\s]{1,100}\\] ',
    '(?<program>psql:[^\\s:]{1,200}:\\d+: |[a-z][\\w.+-]{0,30}: (?=(?:error|fatal|warning): ))',
    '(?<caution>▲)(?= )',
    '(?<mark>[✖✘✗×❌⨯🚨]|x(?= [A-Z][a-z])|\\[!\\]|\\[x\\])(?= |$)',
    '(?<box>[│║┃>|](?= )|remote:(?= )|[│║┃](?=$))',
  ].join('|'),
  'iuy',
);

const IS_WARNING = new RegExp(`^(?:${WARNING_WORDS})$`, 'iu');
const IS_INFO = new RegExp(`^(?:${INFO_WORDS})$`, 'iu');
const LEVEL = /\b(?:level|lvl|severity)=["']?([a-z]+)/i;
const IS_ERROR = new RegExp(`^(?:${ERROR_WORDS})$`, 'iu');

const RELAYED = /^(?:gyp|node-pre-) /;

/** Splits labels off a line; the gravest of them counts. At most four labels are looked at. */
export function readLabels(body: string): Labelled {
  let at = indentOf(body, 0);
  let severity: Severity = '';
  let plain = at;
  let worded = false;
  for (let count = 0; count < 4; count += 1) {
    LABEL.lastIndex = at;
    const found = LABEL.exec(body);
    if (found === null || found[0] === '') break;
    const groups = found.groups ?? {};
    // One capital letter and one small word are labels only where case says so.
    if (groups.letter === 'f' || !caseFits(groups, body[at + found[0].length + 1] ?? '')) break;
    const said = severityOf(groups);
    const relayed = groups.npm !== undefined && said !== '';
    if (relayed || said === 'error' || severity === '') severity = said === '' ? severity : said;
    at = indentOf(body, at + found[0].length);
    worded ||= (groups.word ?? groups.shout ?? groups.yarn ?? groups.letter) !== undefined;
    if (!worded) plain = at;
    // A level said first is the line's own; what follows is the name of a logger or of a thing.
    // Only npm relays other tools' labelled lines.
    if (said === 'info' || said === 'warning') break;
    if (groups.npm !== undefined && !RELAYED.test(body.slice(at, at + 10))) break;
  }
  if (severity === '') {
    const level = LEVEL.exec(body)?.[1];
    if (
      level !== undefined &&
      (IS_ERROR.test(level) || IS_WARNING.test(level) || IS_INFO.test(level))
    ) {
      severity = severityOf({ word: level });
    }
  }
  return { severity, body: body.slice(plain), message: body.slice(at) };
}

function caseFits(groups: Record<string, string | undefined>, next: string): boolean {
  const { shout, yarn, mark } = groups;
  // A lone letter marks an error only before a sentence.
  if (mark !== undefined && /^x$/i.test(mark) && (mark !== 'x' || !/[A-Z]/.test(next)))
    return false;
  if (shout !== undefined && shout !== shout.toUpperCase()) return false;
  return yarn === undefined || (yarn === yarn.toLowerCase() && /[A-Z"`']/.test(next));
}

function severityOf(groups: Record<string, string | undefined>): Severity {
  const { npm, bracket, annotation, word, yarn, letter, mark, box, program } = groups;
  const shout = groups.shout?.replace(/^\W+/, '');
  if (box !== undefined || program !== undefined) return '';
  if (groups.caution !== undefined) return 'warning';
  if (groups.klog !== undefined) return KLOG[groups.klog] ?? '';
  if (groups.chromium !== undefined) return severityOf({ word: groups.chromium });
  if (letter !== undefined || mark !== undefined) return 'error';
  const label =
    npm === undefined
      ? (bracket ?? annotation ?? word ?? shout ?? yarn ?? '')
      : (npm.split(' ')[1] ?? '');
  if (IS_WARNING.test(label) || /^warn/i.test(label)) return 'warning';
  if (IS_INFO.test(label) || /^(?:verb|http)/i.test(label)) return 'info';
  return 'error';
}

const KLOG: Readonly<Record<string, Severity>> = {
  E: 'error',
  F: 'error',
  W: 'warning',
  I: 'info',
};

function indentOf(text: string, from: number): number {
  let at = from;
  while (at < text.length && (text[at] === ' ' || text[at] === '\t')) at += 1;
  return at;
}
