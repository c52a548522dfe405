/** Times and numbers in words; all times are in UTC. */
import { durationText } from '@runner/common/text/time';
import { type Html, html } from './html.ts';

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const two = (number: number) => String(number).padStart(2, '0');

/** `17 Nov`; with the year `17 Nov 2026`. */
export function dayOf(time: number, year = false): string {
  const date = new Date(time);
  const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  return year ? `${day} ${date.getUTCFullYear()}` : day;
}

/** `13:04`. */
export function clockOf(time: number): string {
  const date = new Date(time);
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
}

/** `17 Nov 13:04`, or with the year, in a `time` element; a dash if the time is unknown. */
export function timeTag(time: number, year = false): Html {
  if (Number.isNaN(time)) return html`–`;
  const iso = new Date(time).toISOString();
  return html`<time datetime="${iso}">${dayOf(time, year)} ${clockOf(time)}</time>`;
}

/** A duration in at most two units; whole seconds from 10 s on. */
export function lengthOf(milliseconds: number | null): string {
  if (milliseconds === null) return '–';
  const hours = milliseconds / 3_600_000;
  if (hours >= 48) return `${Math.round(hours / 24)} d`;
  return durationText(milliseconds);
}

export function secondsOf(seconds: number | null): string {
  return lengthOf(seconds === null ? null : seconds * 1000);
}

/** `1,204`. */
export function countOf(count: number): string {
  return count.toLocaleString('en', { maximumFractionDigits: 1 });
}

/** `6.1 %`; a dash for null. */
export function partOf(part: number | null): string {
  return part === null ? '–' : `${Math.round(part * 1000) / 10} %`;
}
