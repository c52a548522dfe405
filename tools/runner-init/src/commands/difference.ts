/** The lines in which two short texts differ. */

/** Longest text, in lines, for which the least difference is looked for. */
const LINES = 500;

/** `-` before lines that only the first has, `+` before those of the second; equal lines are left out. */
export function difference(before: string, after: string): string[] {
  const [one, other] = [before, after].map((text) => text.split('\n').slice(0, LINES)) as [
    string[],
    string[],
  ];
  const common = commonOf(one, other);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) {
      [i, j] = [i + 1, j + 1];
    } else if (
      j >= other.length ||
      (i < one.length && at(common, i + 1, j) >= at(common, i, j + 1))
    ) {
      lines.push(`- ${one[i]}`);
      i += 1;
    } else {
      lines.push(`+ ${other[j]}`);
      j += 1;
    }
  }
  return lines;
}

const at = (table: readonly Uint16Array[], row: number, column: number) =>
  table[row]?.[column] ?? 0;

/** How many lines the ends of two texts have in common, from each line on. */
function commonOf(one: readonly string[], other: readonly string[]): Uint16Array[] {
  const table = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i -= 1)
    for (let j = other.length - 1; j >= 0; j -= 1)
      (table[i] as Uint16Array)[j] =
        one[i] === other[j]
          ? at(table, i + 1, j + 1) + 1
          : Math.max(at(table, i + 1, j), at(table, i, j + 1));
  return table;
}
