/**
 * OTLP over HTTP as JSON: opentelemetry.io/docs/specs/otlp, proto3 as JSON with ids in hexadecimal digits.
 * Attributes are those of the semantic conventions for CI/CD.
 */
import { hostname } from 'node:os';
import { RUN, spanIdOf } from '@runner/common/audit/trace';
import type { Fields } from '../../service/fields.ts';
import type { PipelineRun } from './pipeline-run.ts';

/** The version of the conventions that the names of attributes are of. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.44.0';
/** Kinds of spans, and the status of one that failed. */
const SERVER = 2;
const INTERNAL = 1;
const ERROR = 2;

/** Where traces are sent: below the address of a collector, or at an address that names them. */
export function tracesUrl(url: string): string {
  return url.endsWith('/v1/traces') ? url : `${url}/v1/traces`;
}

/** What a collector accepts, and nothing is recorded by. */
export const NO_TRACE: Fields = { resourceSpans: [] };

const nanoseconds = (milliseconds: number) => `${Math.round(milliseconds)}000000`;

/** Attributes without those that are empty. */
function attributes(values: Readonly<Record<string, string>>) {
  const set = Object.entries(values).filter(([, value]) => value !== '');
  return set.map(([key, stringValue]) => ({ key, value: { stringValue } }));
}

/** The trace of a run: its span, and one for each step, in their order. */
export function traceOf(run: PipelineRun): Fields {
  const { traceId, spanId, parentId, app, deployId, action, result, stage, reason } = run;
  const failed = (isHere: boolean) =>
    isHere && result !== 'success' ? { status: { code: ERROR, message: reason } } : {};
  const name = `${action} ${app}`;
  let at = run.start;
  const steps = run.steps.map((step, index) => {
    const isHere = step.stage === stage && index === run.steps.length - 1;
    const [from, to] = [at, Math.min(at + step.ms, run.end)];
    at = to;
    return {
      traceId,
      spanId: spanIdOf(traceId, `step ${index}`),
      parentSpanId: spanId,
      name: step.stage,
      kind: INTERNAL,
      startTimeUnixNano: nanoseconds(from),
      endTimeUnixNano: nanoseconds(to),
      attributes: attributes({
        'cicd.pipeline.task.name': step.stage,
        'cicd.pipeline.task.run.id': `${deployId}-${index}`,
        'cicd.pipeline.task.run.result': isHere ? result : 'success',
        'error.type': isHere && result === 'failure' ? stage : '',
      }),
      ...failed(isHere),
    };
  });
  const whole = {
    traceId,
    spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name: parentId === undefined ? `${RUN.toUpperCase()} ${name}` : name,
    kind: parentId === undefined ? SERVER : INTERNAL,
    startTimeUnixNano: nanoseconds(run.start),
    endTimeUnixNano: nanoseconds(run.end),
    attributes: attributes({
      'cicd.pipeline.name': name,
      'cicd.pipeline.run.id': deployId,
      'cicd.pipeline.action.name': RUN.toUpperCase(),
      'cicd.pipeline.result': result,
      'error.type': result === 'failure' ? stage : '',
      'deployment.id': deployId,
      'deployment.name': name,
      'deployment.status': result === 'success' ? 'succeeded' : 'failed',
      'deployment.environment.name': run.environments.join(','),
      'vcs.ref.head.revision': run.commit,
      'vcs.ref.head.name': run.version,
      'user.name': run.user,
    }),
    ...failed(true),
  };
  const resource = attributes({ 'service.name': 'runner', 'host.name': hostname() });
  const scopeSpans = [
    { scope: { name: 'runner' }, spans: [whole, ...steps], schemaUrl: SCHEMA_URL },
  ];
  return {
    resourceSpans: [{ resource: { attributes: resource }, scopeSpans, schemaUrl: SCHEMA_URL }],
  };
}
