/**
 * Manual pages in the words of man(7), as `mandoc -T lint` wants them: no line beyond 80 bytes, no
 * blank line, nothing that begins with a control character by accident.
 */

/** Longest line of a page, in bytes. */
const WIDTH = 78;

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  '~': '\\(ti',
  '^': '\\(ha',
  '`': '\\(ga',
  "'": '\\(aq',
  '"': '\\(dq',
};

/** Text as roff prints it literally: dashes stay dashes, so that an option can be copied. */
export function escaped(text: string): string {
  const plain = text.replace(/[\\\-~^`'"]/g, (character) => ESCAPES[character] ?? character);
  return plain.replace(
    /[^\x00-\x7f]/gu,
    (character) =>
      `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}

/** Words in bold, the way that they are typed. */
export const bold = (text: string): string => `\\fB${escaped(text)}\\fP`;

/** A word that stands for another. */
export const italic = (text: string): string => `\\fI${escaped(text)}\\fP`;

/** Lines of filled text from words that are escaped already. */
export function filled(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= WIDTH)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map(guarded);
}

/** A line that begins with a dot would be a request. */
function guarded(line: string): string {
  return /^[.]/.test(line) ? `\\&${line}` : line;
}

/** Lines that stay as they are, set off from the text. */
export function verbatim(lines: readonly string[]): string[] {
  const kept = lines.map((line) => (line === '' ? '.sp' : broken(guarded(escaped(line)))));
  return ['.RS 4', '.nf', ...kept, '.fi', '.RE'];
}

/** A line that is too long for the page's source goes on behind `\c`, which prints no break. */
function broken(line: string): string {
  if (line.length <= WIDTH) return line;
  const space = line.lastIndexOf(' ', WIDTH - 2);
  if (space <= 0) return line;
  return `${line.slice(0, space + 1)}\\c\n${broken(guarded(line.slice(space + 1)))}`;
}

/** Whether an author laid a paragraph out in columns, which filling would spoil. */
const isLaidOut = (paragraph: string): boolean => /\S {3,}\S/.test(paragraph);

/** Paragraphs of plain text: those that were laid out by hand stay, the others are filled. */
export function paragraphs(text: string): string[] {
  return text
    .trim()
    .split(/\n{2,}/)
    .flatMap((paragraph, index) => [
      ...(index > 0 ? ['.PP'] : []),
      ...(isLaidOut(paragraph) ? verbatim(paragraph.split('\n')) : filled(escaped(paragraph))),
    ]);
}

/** A term, marked up already, and what it means. */
export function item(term: string, ...meaning: readonly string[]): string[] {
  return ['.TP', term, ...meaning];
}

/** A section, or a subsection with `SS`; nothing when it is empty. */
export function section(title: string, lines: readonly string[], macro = 'SH'): string[] {
  return lines.length === 0 ? [] : [`.${macro} ${quoted(title)}`, ...lines];
}

function quoted(title: string): string {
  return title.includes(' ') ? `"${escaped(title)}"` : escaped(title);
}

/** Date of the newest release in CHANGELOG.md: no clock, so that the same source makes the same pages. */
const DATE = '2026-11-23';

/** A whole page. */
export function page(
  name: string,
  part: number,
  version: string,
  lines: readonly string[],
): string {
  const heading = `.TH ${name.toUpperCase().replaceAll('-', '\\-')} ${part} ${DATE} "runner ${version}" "runner"`;
  return `${[heading, ...lines].join('\n')}\n`;
}
