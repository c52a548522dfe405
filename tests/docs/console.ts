/** Sessions in the documentation: the commands, what they print, and whether that is so. */

/** A command of a session, and what it prints. */
export interface Exchange {
  readonly command: string;
  /** Lines that follow the command on the page; `…` alone stands for any lines. */
  readonly shown: readonly string[];
}

/** The commands of a `console` block: lines that begin with `$ `, with what follows each. */
export function exchangesOf(text: string): Exchange[] {
  const exchanges: { command: string; shown: string[] }[] = [];
  let continues = false;
  for (const line of text.split('\n')) {
    const last = exchanges.at(-1);
    if (line.startsWith('$ ')) exchanges.push({ command: line.slice(2), shown: [] });
    else if (last && continues) last.command += `\n${line}`;
    else if (last) last.shown.push(line);
    else throw new Error(`a session begins with a command, not with: ${line}`);
    continues = line.endsWith('\\') && (line.startsWith('$ ') || continues);
  }
  return exchanges;
}

/** What differs from run to run, in the order in which it is masked. */
const MASKS: readonly (readonly [pattern: RegExp, mask: string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?/g, '<time>'],
  [/\b\d{8}T\d{6}Z-[0-9a-f]{12}\b/g, '<release>'],
  [/tk_[0-9a-f]{4}…[0-9a-f]{4}/g, '<token>'],
  [/\bm_[0-9a-f]{8}\b/g, '<key>'],
  [/\b[0-9a-f]{40}\b/g, '<commit>'],
  [/\b(?=\w*\d)[0-9a-f]{12}\b/g, '<commit>'],
  [/\b(?:[0-9a-f]{8}|[0-9a-f]{32})\b/g, '<id>'],
  [/\b\d+(\.\d+)? (ms|s|m|h)\b/g, '<duration>'],
  [/"duration_ms":\s*\d+/g, '"duration_ms":<n>'],
];

/** A text without trailing spaces, with what differs from run to run masked. */
export function masked(text: string): string[] {
  return MASKS.reduce((line, [pattern, mask]) => line.replace(pattern, mask), text)
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());
}

/** Whether lines are what is shown, where `…` alone in a line stands for any number of lines. */
export function matches(lines: readonly string[], shown: readonly string[]): boolean {
  const [first, ...rest] = shown;
  if (first === undefined) return lines.length === 0;
  if (first.trim() === '…') {
    return lines.some((_, index) => matches(lines.slice(index), rest)) || matches([], rest);
  }
  return lines[0] === first && matches(lines.slice(1), rest);
}
