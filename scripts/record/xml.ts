/** Text as it stands in XML. */
export function xml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** A number without needless digits. */
export function short(number: number): string {
  return String(Math.round(number * 100) / 100);
}

/** Fonts for code that a reader has: a drawing loads none. */
export const MONOSPACE =
  "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace";
/** Fonts for text that a reader has. */
export const SANS =
  "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'DejaVu Sans', Arial, sans-serif";
