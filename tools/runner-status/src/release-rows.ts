/** The lines of `runner status` on the active release: its watch, database, jobs, certificates and file. */
import { nextOfJob } from '@runner/common/apps/job-book';
import { migrationLines } from '@runner/common/apps/schema-way';
import { sizeText } from '@runner/common/text/size';
import { utcText } from '@runner/common/text/time';
import { diedWords, lostWords } from '@runner/deploy/watch/progress';
import type { Detailed } from './details.ts';

export type LabelledLines = [label: string, lines: string[]];

/** What is being judged, or how the newest watch ended. */
export function watchRow({
  app,
  state,
  instances,
  deploying,
  watch,
  watched,
  judging,
  watcher,
}: Detailed): LabelledLines[] {
  if (watch && watcher === false) return [['watch:', [lostWords(app, watch.version)]]];
  if (watch) {
    const { version, until } = watch;
    const isWarm = instances.some(({ draining }) => draining && draining.running !== false);
    const warm = isWarm ? (judging?.warm_bytes ?? null) : null;
    const kept =
      warm === null
        ? []
        : [
            `the version before is kept warm until ${utcText(until)}${warm > 0 ? `, ${sizeText(warm)}` : ''}`,
          ];
    const lines = [`${version} is watched until ${utcText(until)}`, ...kept];
    return [['watch:', [...lines, `runner watch ${app}`]]];
  }
  if (state === 'interrupted' && deploying?.stage === 'canary')
    return [['canary:', [diedWords(app, deploying.version, judging?.share)]]];
  if (judging) {
    const { version, share, until, sources } = judging;
    const has = `${version} has ${share} % of the requests until ${utcText(until)}`;
    const found = sources.map(({ name, words }) => `${name}: ${words}`);
    return [
      ['canary:', [has, ...found, `runner watch ${app}`, `runner cancel ${app} withdraws it`]],
    ];
  }
  if (!watched) return [];
  const { version, at, verdict, reason } = watched;
  return [['watch:', [`${version}, ${verdict.replace('_', ' ')}, ${utcText(at)}`, reason]]];
}

/** Of each domain that serves one: when its certificate ends. */
export function certificatesRow({ certificates }: Detailed): LabelledLines[] {
  const lines = Object.entries(certificates).flatMap(([domain, { ends }]) =>
    ends === null ? [] : [`${domain} until ${utcText(ends)}`],
  );
  return lines.length === 0 ? [] : [['certificates:', lines]];
}

/** What has changed the database last, and what a rollback meets there. */
export function databaseRow(app: Detailed): LabelledLines[] {
  const { migration, migration_left: left, unfit, way_back: way } = app;
  // It may be about earlier migrations, too, which the version that is active works with.
  const isOther = way && way.verdict !== migration?.verdict;
  const lines = [
    ...(left === null ? [] : [`a migration was killed, and may be in: ${left}`]),
    ...(unfit === null ? [] : [unfit]),
    ...(migration ? migrationLines(migration) : []),
    ...(isOther ? [`runner rollback ${app.app}: ${way.words}`] : []),
  ];
  return lines.length > 0 ? [['database:', lines]] : [];
}

/** Each job: how it went last, and when it runs next. */
export function jobsRow({ jobs }: Detailed): LabelledLines[] {
  if (jobs.length === 0) return [];
  const lines = jobs.map((each) => {
    const { job, when, last, trouble } = each;
    const went = trouble ?? (last ? `${last.outcome} ${utcText(last.at)}` : 'not run yet');
    return [`${job}: ${when}`, went, nextOfJob(each, utcText)].filter(Boolean).join(', ');
  });
  return [['jobs:', lines]];
}

/** The operator's `.deploy.yml`, and whether what runs was made with it. */
export function fileRow({ deploy_file: file, instances }: Detailed): LabelledLines[] {
  const isUsed = instances.some(({ current }) => current?.deploy_file === 'operator');
  if (!file && !isUsed) return [];
  const which = file === 'wins' ? 'for every commit' : 'for commits without one';
  return [
    [
      'file:',
      [
        file ? `the operator's .deploy.yml, ${which}` : "the commit's own .deploy.yml from now on",
        ...(isUsed ? ["what is active was made with the operator's"] : []),
      ],
    ],
  ];
}
