/** Sizes as text. */
const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `512 B`, `3.4 MiB`, `120 GiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let size = bytes / 1024;
  let unit = 0;
  for (; size >= 1023.5 && unit < UNITS.length - 1; unit += 1) size /= 1024;
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`;
}
