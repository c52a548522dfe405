/**
 * A recorded session as one SVG, animated in CSS alone. All lines stand below each
 * other on a strip; the strip moves up when the screen is full, and a curtain over what has not
 * come yet moves down until then. So two animations are all, whatever the length.
 */
import { columnsOf, type Line } from './transcript.ts';
import { MONOSPACE, short, xml } from './xml.ts';

const FONT = 14;
const COLUMN = 8.43;
const ROW = 19;
const [LEFT, TOP] = [16, 44];
/** Milliseconds for which the end stays before it begins again. */
const REST = 6_000;

const COLOURS = {
  screen: '#101418',
  text: '#d7dde3',
  dim: '#7d8893',
  red: '#ff7b72',
  green: '#7ee787',
  yellow: '#e3b341',
  cyan: '#79c0ff',
  bold: '#ffffff',
};

/** A row; each run has the width of its columns, whatever font it is drawn with. */
function row(line: Line, index: number): string {
  let column = 0;
  const parts = line.runs.map(({ text, style }) => {
    const columns = columnsOf(text);
    const x = short(LEFT + column * COLUMN);
    column += columns;
    const look = style === '' ? '' : ` class="${style}"`;
    const width = short(columns * COLUMN);
    return `<tspan x="${x}" textLength="${width}"${look}>${xml(text)}</tspan>`;
  });
  if (line.runs.every(({ text }) => text.trim() === '')) return '';
  const more = line.continues ? ' class="more"' : '';
  return `<text y="${index * ROW + FONT}"${more}>${parts.join('')}</text>`;
}

/** `@keyframes` that jump to each position at its time; of positions at one time, to the last. */
function keyframes(
  name: string,
  steps: readonly (readonly [at: number, y: number])[],
  total: number,
): string {
  const places = new Map(steps.map(([at, y]) => [short((at / total) * 100), y]));
  const frames = [...places].map(([at, y]) => `${at}%{transform:translateY(${y}px)}`);
  return `@keyframes ${name}{${frames.join('')}}`;
}

/** Draws lines with their times on a screen of `columns` by `rows`. */
export function sessionSvg(
  lines: readonly Line[],
  { columns, rows, title }: { columns: number; rows: number; title: string },
): string {
  const total = (lines.at(-1)?.at ?? 0) + REST;
  const strip: [number, number][] = [[0, 0]];
  const curtain: [number, number][] = [[0, 0]];
  lines.forEach(({ at }, index) => {
    const there = index + 1;
    if (there > rows) strip.push([at, -(there - rows) * ROW]);
    else curtain.push([at, there * ROW]);
  });
  const end = { strip: strip.at(-1)?.[1] ?? 0, curtain: curtain.at(-1)?.[1] ?? 0 };
  const [width, height] = [Math.ceil(columns * COLUMN + 2 * LEFT), rows * ROW + TOP + 14];
  const looks = Object.entries(COLOURS)
    .filter(([name]) => name !== 'screen' && name !== 'text')
    .map(([name, colour]) => `.${name}{fill:${colour}}`);
  const seconds = short(total / 1000);
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${xml(title)}">
<title>${xml(title)}</title>
<style>
text{font:${FONT}px ${MONOSPACE};fill:${COLOURS.text};white-space:pre}
${looks.join('')}.bold{font-weight:bold}
#strip{transform:translateY(${end.strip}px);animation:strip ${seconds}s step-end infinite}
#curtain{transform:translateY(${end.curtain}px);animation:curtain ${seconds}s step-end infinite}
@media (prefers-reduced-motion:reduce){#strip,#curtain{animation:none}}
${keyframes('strip', strip, total)}
${keyframes('curtain', curtain, total)}
</style>
<rect width="${width}" height="${height}" rx="8" fill="${COLOURS.screen}"/>
<g fill="#4a545e"><circle cx="22" cy="20" r="6"/><circle cx="42" cy="20" r="6"/><circle cx="62" cy="20" r="6"/></g>
<text x="${width / 2}" y="25" text-anchor="middle" class="dim">${xml(title)}</text>
<svg y="${TOP}" width="${width}" height="${rows * ROW}" overflow="hidden" aria-hidden="true">
<g id="strip">
${lines.map(row).filter(Boolean).join('\n')}
</g>
<rect id="curtain" width="${width}" height="${rows * ROW}" fill="${COLOURS.screen}"/>
</svg>
</svg>
`;
}

/** The lines of a drawing made by sessionSvg that are not empty, as text without looks. */
export function linesIn(svg: string): string[] {
  const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  const lines: string[] = [];
  for (const [, more, inner = ''] of svg.matchAll(/<text y="\d+"( class="more")?>(.*)<\/text>/g)) {
    const text = inner
      .replace(/<[^>]*>/g, '')
      .replace(/&(\w+);/g, (_, name: string) => entities[name] ?? '');
    if (more === undefined) lines.push(text.trim());
    else lines.push(`${lines.pop() ?? ''}${text}`);
  }
  return lines;
}
