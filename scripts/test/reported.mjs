/**
 * What a test tells of how much it has done, in lines such as `(100 kills in 131 runs)`: the texts
 * between the brackets, each beginning with a number and what is counted.
 */
export function toldIn(output) {
  return [...output.matchAll(/\((\d+ [a-z]+\b.*)\)$/gm)].map((match) => match[1]);
}

/** The sums of what was told, by what is counted: `200 kills, 31 cases`; '' when nothing was. */
export function sumOf(told) {
  const sums = new Map();
  for (const text of told) {
    const [count, what] = text.split(/\W+/, 2);
    sums.set(what, (sums.get(what) ?? 0) + Number(count));
  }
  return [...sums].map(([what, sum]) => `${sum} ${what}`).join(', ');
}
