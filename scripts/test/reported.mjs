/**
 * What a test reports of how much it has done, in lines such as `(100 kills in 131 runs)`: the texts
 * between the brackets, each beginning with a number and what is counted.
 */
export function reportedIn(output) {
  return [...output.matchAll(/\((\d+ [a-z]+\b.*)\)$/gm)].map((match) => match[1]);
}

/** The sums of what was reported, by what is counted: `200 kills, 31 cases`; '' when there are none. */
export function sumOf(reported) {
  const sums = new Map();
  for (const text of reported) {
    const [count, what] = text.split(/\W+/, 2);
    sums.set(what, (sums.get(what) ?? 0) + Number(count));
  }
  return [...sums].map(([what, sum]) => `${sum} ${what}`).join(', ');
}
