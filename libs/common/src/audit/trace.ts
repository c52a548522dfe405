/** Ids of traces and spans, as W3C Trace Context and OTLP write them: each attempt to send one has the same. */
import { hostname } from 'node:os';
import { hashOf } from './chain.ts';

/** Of the trace of a deploy: 32 hexadecimal digits. */
export function traceIdOf(app: string, deployId: string): string {
  return hashOf([hostname(), app, deployId].join('\n')).slice(0, 32);
}

/** Of a span in a trace: 16 hexadecimal digits. */
export function spanIdOf(traceId: string, name: string): string {
  return hashOf(`${traceId} ${name}`).slice(0, 16);
}

/** The name of the span of a whole deploy. */
export const RUN = 'run';

/** `TRACEPARENT` of the commands of a deploy: what they trace belongs to its span. */
export function traceParent(app: string, deployId: string): string {
  const traceId = traceIdOf(app, deployId);
  return `00-${traceId}-${spanIdOf(traceId, RUN)}-01`;
}

/** The environment of an instance, as traces and Sentry name it. */
export function environmentName(instance: string): string {
  return instance === 'default' ? 'production' : instance;
}
