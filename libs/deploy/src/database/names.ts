/** Names in a piece of SQL. */

/** Finds a name as a whole word. */
export const wordOf = (name: string, flags: string) =>
  new RegExp(
    `(?<![\\p{L}\\p{N}_$])${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}(?![\\p{L}\\p{N}_$])`,
    flags,
  );

/** The piece with all texts empty. */
export const withoutTexts = (sql: string) => sql.replace(/'(?:[^']|'')*'/g, "''");

/** Of these names those in a piece. */
export function namesIn(sql: string, names: readonly string[]): string[] {
  let rest = withoutTexts(sql);
  // The longest first: one name may be a part of another.
  const sorted = [...names].sort((one, other) => other.length - one.length);
  return sorted.filter((name) => {
    const left = rest.replace(wordOf(name, 'giu'), ' ');
    const isIn = left !== rest;
    rest = left;
    return isIn;
  });
}
