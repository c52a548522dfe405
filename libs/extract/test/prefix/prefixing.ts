/** What a platform, a runtime or a log library makes of the lines that a program prints. */

/** Where the line stands: its number from 0, its time, and the level at which it is relayed. */
export interface Place {
  readonly n: number;
  readonly time: Date;
}

/** Prints one line of a log in its prefix. */
export type Prefixing = (text: string, place: Place) => string;

export const two = (value: number): string => String(value).padStart(2, '0');

/** `2024-11-20T10:00:00` and the rest of the ISO form. */
export const iso = (time: Date): string => time.toISOString().slice(0, 19);
export const millis = (time: Date): string => time.toISOString().slice(20, 23);
export const clock = (time: Date): string => time.toISOString().slice(11, 19);
/** `2024-11-20 10:00:00` */
export const day = (time: Date): string => iso(time).replace('T', ' ');
export const slashed = (time: Date): string => day(time).replaceAll('-', '/');
export const month = (time: Date): string => time.toUTCString().slice(8, 11);
/** `Nov 20 10:00:00` */
export const syslogTime = (time: Date): string =>
  `${month(time)} ${String(time.getUTCDate()).padStart(2)} ${clock(time)}`;

/** The level that a relay gives to what looks like an error to it. */
export function guessed(text: string): 'error' | 'info' {
  return /error|fail|fatal/i.test(text) ? 'error' : 'info';
}

/** The log as its platform shows it. */
export function prefixed(log: string, prefixing: Prefixing): string {
  const start = Date.UTC(2024, 10, 20, 9, 58, 41);
  const lines = log.replace(/\n$/, '').split('\n');
  const shown = lines.map((text, n) => prefixing(text, { n, time: new Date(start + n * 137) }));
  return `${shown.join('\n')}\n`;
}
