/** The demo's transcript as the README shows it: what repeats is left out, and so are long waits. */
import { type Line, textOf } from './transcript.ts';

/** Consecutive lines of a build that all look alike; of more than three, two are left. */
const ALIKE = /compiled src\//;
/** Where the chats' messages begin. */
const CHATS = 'And this is what the chats received.';
/** Which of them are shown: one of a failure, and the one of the rollback. */
const SHOWN = [/❌ Deploy failed/, /Rollback$/];

const blank = (line: Line) => textOf(line).trim() === '';

/** A marker for lines that are left out, with the margin of what stood there. */
function gap(like: Line): Line {
  const margin = /^[\s│]*/.exec(textOf(like))?.[0] ?? '';
  return { runs: [{ text: `${margin}…`, style: 'dim' }], at: like.at };
}

function withoutRepeats(lines: readonly Line[]): Line[] {
  const kept: Line[] = [];
  for (let index = 0; index < lines.length; ) {
    let end = index;
    while (end < lines.length && ALIKE.test(textOf(lines[end] as Line))) end += 1;
    const first = lines[index] as Line;
    if (end - index > 3) kept.push(first, gap(first), lines[end - 1] as Line);
    else kept.push(...lines.slice(index, Math.max(end, index + 1)));
    index = Math.max(end, index + 1);
  }
  return kept;
}

/** The messages, each with the name of its chat above, that match one of SHOWN; one each. */
function chosenMessages(lines: readonly Line[]): Line[] {
  const messages: Line[][] = [];
  for (const line of lines) {
    if (blank(line)) messages.push([]);
    else messages.at(-1)?.push(line);
  }
  return SHOWN.flatMap((wanted) => {
    const message = messages.find((each) => each[1] && wanted.test(textOf(each[1])));
    const first = message?.[0];
    return message && first ? [{ runs: [], at: first.at }, ...message] : [];
  });
}

/** The lines of `npm run demo` that the README shows, in order. */
export function shortened(lines: readonly Line[]): Line[] {
  const chats = lines.findIndex((line) => textOf(line) === CHATS);
  if (chats === -1) throw new Error(`the demo does not say: ${CHATS}`);
  const begin = lines.findIndex((line) => !blank(line));
  const story = withoutRepeats(lines.slice(begin, chats + 1));
  return [...story, ...chosenMessages(lines.slice(chats + 1))];
}

/** Milliseconds that a reader is given before a line shows: after a command, after a sentence. */
function pauseBefore(line: Line, before: Line | undefined, gapBetween: number): number {
  const text = textOf(line);
  if (before === undefined) return 300;
  if (text.startsWith('$ ')) return 1_100;
  if (textOf(before).startsWith('$ ')) return 600;
  if (blank(line)) return 700;
  return Math.min(450, Math.max(60, gapBetween / 4));
}

/** The same lines with times that a reader can follow, as milliseconds from the start. */
export function paced(lines: readonly Line[]): Line[] {
  let at = 0;
  return lines.map((line, index) => {
    const before = lines[index - 1];
    at += pauseBefore(line, before, before === undefined ? 0 : line.at - before.at);
    return { ...line, at: Math.round(at) };
  });
}
