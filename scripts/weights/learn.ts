/** Logistic regression over the lines of each log, by stochastic gradient descent. */

/** One log: its rows, of which some name the cause. */
export interface Sample {
  readonly tool: string;
  readonly rows: readonly {
    readonly features: readonly string[];
    /** What the rules give the row. */
    readonly score: number;
    /** Share of the needed texts that the row has. */
    readonly truth: number;
    /** Whether it must not lead. */
    readonly misleads: boolean;
  }[];
}

/** A feature that the logs of fewer tools have says more of the tool than of causes. */
const TOOLS = 4;
/** Names of the invented apps in the logs: what is said of them says nothing of causes. */
const FIXTURES =
  /\b(?:adds|amber|berth|birch|cart|cedar|dock|ebb|errata|fjord|gale|harbou?r|hazel|heron|indigo|inlet|invoices?|jetty|keel|lagoon|maple|marsh|mast|narrows|nectar|oar|orchid|quartz|quay|quill|reef|sable|sail|shop|slate|tax|thyme|totals?|totl|tundra|vat|velvet|violet|willow)\b/i;

const ROUNDS = 25;
/** The weights are the means of those after each of the last rounds. */
const AVERAGED = 10;
const RATE = 0.1;
const DECAY = 0.03;
/** How much of a rule's score the weights are learned on top of. */
const RULES = 0.05;
/** How much it counts that a misleading row is not the likeliest, beside that a cause is. */
const MISLEADS = 0.5;

/** A log as the loop below reads it: the features of its rows by number, and all of them once. */
type Numbered = ReturnType<typeof numbered>;

/** The weight of each feature; the samples in a fixed order give the same weights. */
export function learn(samples: readonly Sample[]): Map<string, number> {
  const names = commonIn(samples);
  const numbers = new Map(names.map((feature, number) => [feature, number]));
  const logs = samples.map(({ rows }) => numbered(rows, numbers));
  const weights = new Float64Array(names.length);
  const means = new Float64Array(names.length);
  const squares = new Float64Array(names.length).fill(0.01);
  const slopes = new Float64Array(names.length);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const log of logs) {
      if (!addSlopes(log, weights, slopes)) continue;
      for (const feature of log.features) {
        const weight = weights[feature] ?? 0;
        const step = (slopes[feature] ?? 0) + DECAY * weight;
        const square = (squares[feature] ?? 0) + step * step;
        squares[feature] = square;
        weights[feature] = weight - (RATE * step) / Math.sqrt(square);
        slopes[feature] = 0;
      }
    }
    if (round < ROUNDS - AVERAGED) continue;
    for (const [feature, weight] of weights.entries())
      means[feature] = (means[feature] ?? 0) + weight / AVERAGED;
  }
  return new Map(names.map((feature, number) => [feature, means[number] ?? 0]));
}

function numbered(rows: Sample['rows'], numbers: ReadonlyMap<string, number>) {
  const own = rows.map((row) => ({
    ...row,
    features: Int32Array.from(row.features.flatMap((feature) => numbers.get(feature) ?? [])),
  }));
  const all = new Set(own.flatMap(({ features }) => [...features]));
  return { rows: own, features: Int32Array.from(all) };
}

function commonIn(samples: readonly Sample[]): string[] {
  const tools = new Map<string, Set<string>>();
  for (const { tool, rows } of samples) {
    for (const feature of rows.flatMap(({ features }) => features)) {
      const own = tools.get(feature) ?? new Set();
      tools.set(feature, own.add(tool));
    }
  }
  return [...tools]
    .filter(([feature, own]) => own.size >= TOOLS && !FIXTURES.test(feature))
    .map(([feature]) => feature);
}

/**
 * Adds how the loss changes with the weight of each feature: the cause competes with the other rows
 * of its log. False if no row names the cause.
 */
function addSlopes({ rows }: Numbered, weights: Float64Array, slopes: Float64Array): boolean {
  const sums = rows.map(({ features, score }) =>
    features.reduce((sum, feature) => sum + (weights[feature] ?? 0), RULES * score),
  );
  const best = Math.max(...sums);
  const shares = normal(sums.map((sum) => Math.exp(sum - best)));
  const wanted = normal(shares.map((share, at) => share * (rows[at]?.truth ?? 0)));
  const fit = normal(shares.map((share, at) => (rows[at]?.misleads ? 0 : share)));
  if (wanted.every((share) => share === 0)) return false;
  for (const [at, { features }] of rows.entries()) {
    const share = shares[at] ?? 0;
    const slope = share - (wanted[at] ?? 0) + MISLEADS * (share - (fit[at] ?? 0));
    for (const feature of features) slopes[feature] = (slopes[feature] ?? 0) + slope;
  }
  return true;
}

function normal(shares: readonly number[]): number[] {
  const sum = shares.reduce((a, b) => a + b, 0);
  return shares.map((share) => (sum === 0 ? 0 : share / sum));
}
