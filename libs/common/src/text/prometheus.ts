/** Figures in Prometheus' text format. */

/** A metric, and its samples of one subject: label pairs such as `job="x"`, and the value; null: none. */
export interface Metric<S> {
  readonly name: string;
  readonly help: string;
  /** A summary's samples are quantiles [default: gauge]. */
  readonly type?: 'summary';
  samples(subject: S): readonly (readonly [labels: string, value: number | null])[];
}

/** All metrics, each with the samples of all subjects; `app` is the label that each has first. */
export function exposition<S extends { readonly app: string }>(
  metrics: readonly Metric<S>[],
  subjects: readonly S[],
): string {
  return metrics
    .map(({ name, help, type = 'gauge', samples }) => {
      const lines = subjects.flatMap((each) =>
        samples(each).flatMap(([labels, value]) => {
          if (value === null || Number.isNaN(value)) return [];
          const all = [`app="${escapedLabel(each.app)}"`, labels].filter((label) => label !== '');
          return [`${name}{${all.join(',')}} ${value}\n`];
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
