/** Plays the demo on a pseudo-terminal and draws what it shows. */
import { spawn } from '@lydell/node-pty';
import { sessionSvg } from './session-svg.ts';
import { paced, shortened } from './shorten.ts';
import { linesOf, type Piece, wrapped } from './transcript.ts';

const SCREEN = { columns: 100, rows: 32 };
/** So wide that the terminal breaks no line: that is done when it is drawn. */
const WIDE = 4_000;

/** What the built demo shows, as it comes; rejects when the story does not end well. */
export function played(): Promise<Piece[]> {
  const { NO_COLOR: _, CI: __, ...env } = process.env;
  const started = performance.now();
  const terminal = spawn(process.execPath, ['scripts/bundle/run.mjs', 'scripts/demo/main.ts'], {
    cols: WIDE,
    rows: SCREEN.rows,
    env: { ...env, TERM: 'xterm-256color', TMPDIR: '/tmp' },
  });
  const pieces: Piece[] = [];
  terminal.onData((text) => pieces.push({ text, at: performance.now() - started }));
  return new Promise((resolve, reject) => {
    terminal.onExit(({ exitCode }) => {
      if (exitCode === 0) resolve(pieces);
      else
        reject(
          new Error(`the demo ended with ${exitCode}:\n${pieces.map((p) => p.text).join('')}`),
        );
    });
  });
}

export function demoSvg(pieces: readonly Piece[]): string {
  return sessionSvg(wrapped(paced(shortened(linesOf(pieces))), SCREEN.columns), {
    ...SCREEN,
    title: 'npm run demo',
  });
}
