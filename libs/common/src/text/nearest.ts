/** "Did you mean …?" */

/** `; did you mean 'shop'?`, if one of the names is close enough; else ''. */
export function didYouMean(word: string, names: readonly string[]): string {
  const near = nearest(word, names);
  return near === undefined ? '' : `; did you mean '${near}'?`;
}

/** `; kept: v1, v2; did you mean 'v1'?`: all names, and the nearest if there is a choice; '' without names. */
export function choiceOf(label: string, word: string, names: readonly string[]): string {
  if (names.length === 0) return '';
  return `; ${label}: ${names.join(', ')}${names.length > 1 ? didYouMean(word, names) : ''}`;
}

/** The name with the smallest edit distance, if it is close enough for a typing error. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  if (word.length > 40) return undefined;
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const isBeginning = word.length > 1 && name.startsWith(word);
    const distance = isBeginning ? 1 : editDistance(word, name);
    if (distance <= mostEdits(word, name) && distance < least) [best, least] = [name, distance];
  }
  return best;
}

/** A third of the word; two edits in four letters as well, if the first one is right. */
function mostEdits(word: string, name: string): number {
  const third = Math.max(1, Math.floor(word.length / 3));
  return word.length > 3 && word[0] === name[0] ? Math.max(2, third) : third;
}

/** Insertions, deletions, substitutions and swaps of neighbours (Damerau). */
function editDistance(one: string, other: string): number {
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      let cost = Math.min(
        (above[column] as number) + 1,
        (line[column - 1] as number) + 1,
        (above[column - 1] as number) + (same ? 0 : 1),
      );
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (row > 1 && column > 1 && swapped)
        cost = Math.min(cost, (before[column - 2] as number) + 1);
      line.push(cost);
    }
    [before, above] = [above, line];
  }
  return above[other.length] as number;
}
