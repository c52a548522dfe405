/** Figures in Prometheus' text format. */

/** Label pairs such as `job="x"`, the value (null: none), and what follows the metric's name: `_sum` or `_count`. */
export type MetricSample = readonly [labels: string, value: number | null, suffix?: string];

/** A metric, and its samples of one subject. */
export interface Metric<S> {
  readonly name: string;
  readonly help: string;
  /** A summary's samples are quantiles, a sum and a count [default: gauge]. */
  readonly type?: 'summary';
  samples(subject: S): readonly MetricSample[];
}

/** All metrics, each with the samples of all subjects; `app` is the label that each has first. */
export function exposition<S extends { readonly app: string }>(
  metrics: readonly Metric<S>[],
  subjects: readonly S[],
): string {
  return metrics
    .map(({ name, help, type = 'gauge', samples }) => {
      const lines = subjects.flatMap((each) =>
        samples(each).flatMap(([labels, value, suffix = '']) => {
          if (value === null || Number.isNaN(value)) return [];
          const all = [`app="${escapedLabel(each.app)}"`, labels].filter((label) => label !== '');
          return [`${name}${suffix}{${all.join(',')}} ${value}\n`];
        }),
      );
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
    })
    .join('');
}

/** A label's value: a log may hold any name. */
export function escapedLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
