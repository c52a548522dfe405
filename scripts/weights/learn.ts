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
const TOOLS = 5;
const ROUNDS = 25;
const RATE = 0.15;
const DECAY = 0.03;
/** How much of a rule's score the weights are learned on top of. */
const RULES = 0.05;
/** How much it counts that a misleading row is not the likeliest, beside that a cause is. */
const MISLEADS = 0.5;

/** The weight of each feature; the samples in a fixed order give the same weights. */
export function learn(samples: readonly Sample[]): Map<string, number> {
  const weights = new Map<string, number>();
  for (const feature of commonIn(samples)) weights.set(feature, 0);
  const squares = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const sample of samples) {
      for (const [feature, slope] of slopesOf(sample, weights)) {
        const weight = weights.get(feature) ?? 0;
        const step = slope + DECAY * weight;
        const square = (squares.get(feature) ?? 0.01) + step * step;
        squares.set(feature, square);
        weights.set(feature, weight - (RATE * step) / Math.sqrt(square));
      }
    }
  }
  return weights;
}

function commonIn(samples: readonly Sample[]): string[] {
  const tools = new Map<string, Set<string>>();
  for (const { tool, rows } of samples) {
    for (const feature of rows.flatMap(({ features }) => features)) {
      const own = tools.get(feature) ?? new Set();
      tools.set(feature, own.add(tool));
    }
  }
  return [...tools].filter(([, own]) => own.size >= TOOLS).map(([feature]) => feature);
}

/** By feature, how the loss changes with its weight: the cause competes with the other rows of its log. */
function slopesOf({ rows }: Sample, weights: ReadonlyMap<string, number>): Map<string, number> {
  const sums = rows.map(({ features, score }) =>
    features.reduce((sum, feature) => sum + (weights.get(feature) ?? 0), RULES * score),
  );
  const best = Math.max(...sums);
  const shares = normal(sums.map((sum) => Math.exp(sum - best)));
  const wanted = normal(shares.map((share, at) => share * (rows[at]?.truth ?? 0)));
  const fit = normal(shares.map((share, at) => (rows[at]?.misleads ? 0 : share)));
  const slopes = new Map<string, number>();
  if (wanted.every((share) => share === 0)) return slopes;
  for (const [at, { features }] of rows.entries()) {
    const share = shares[at] ?? 0;
    const slope = share - (wanted[at] ?? 0) + MISLEADS * (share - (fit[at] ?? 0));
    for (const feature of features)
      if (weights.has(feature)) slopes.set(feature, (slopes.get(feature) ?? 0) + slope);
  }
  return slopes;
}

function normal(shares: readonly number[]): number[] {
  const sum = shares.reduce((a, b) => a + b, 0);
  return shares.map((share) => (sum === 0 ? 0 : share / sum));
}
