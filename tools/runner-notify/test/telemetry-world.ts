/** A root whose deploys are recorded by a collector, a Grafana and a Sentry, each with its documented rules. */
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type Loopback, readBody, sendJson, startLoopback } from '@runner/testing/loopback';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { Ajv } from 'ajv';

const hex = (digits: number) => ({ type: 'string', pattern: `^[0-9a-f]{${digits}}$` });
const NANOSECONDS = { type: 'string', pattern: '^\\d{13,20}$' };
const object = (properties: object, required: string[] = Object.keys(properties)) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});
const list = (items: object) => ({ type: 'array', items });
const ATTRIBUTES = list(
  object({ key: { type: 'string' }, value: object({ stringValue: { type: 'string' } }) }),
);
/** opentelemetry-proto, trace.proto in proto3's JSON; ids are hexadecimal, 64-bit numbers are texts. */
const TRACES = object({
  resourceSpans: list(
    object({
      resource: object({ attributes: ATTRIBUTES }),
      schemaUrl: { type: 'string' },
      scopeSpans: list(
        object({
          scope: object({ name: { type: 'string' } }),
          schemaUrl: { type: 'string' },
          spans: list(
            object(
              {
                traceId: hex(32),
                spanId: hex(16),
                parentSpanId: hex(16),
                name: { type: 'string', minLength: 1 },
                kind: { type: 'integer', minimum: 1, maximum: 5 },
                startTimeUnixNano: NANOSECONDS,
                endTimeUnixNano: NANOSECONDS,
                attributes: ATTRIBUTES,
                status: object({
                  code: { type: 'integer', minimum: 0, maximum: 2 },
                  message: { type: 'string' },
                }),
              },
              ['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'],
            ),
          ),
        }),
      ),
    }),
  ),
});
const isTraces = new Ajv().compile(TRACES);

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { key: string; value: { stringValue: string } }[];
  readonly status?: { code: number; message: string };
}
type Body = Record<string, unknown>;

/** Keeps each span once, as a trace store does; `arrivals` has each request's first span. */
export async function startCollector(authorization = 'Bearer c0llector-key-of-the-test') {
  const spans = new Map<string, Span>();
  const arrivals: string[] = [];
  const server = await startLoopback({
    route: (request) => request.url ?? '',
    async answer(request, response) {
      const body = JSON.parse((await readBody(request))?.toString('utf8') ?? '') as Body;
      if (request.headers.authorization !== authorization)
        return sendJson(response, 401, { code: 16, message: 'who are you' });
      if (request.url !== '/v1/traces' || !isTraces(body))
        return sendJson(response, 400, { message: JSON.stringify(isTraces.errors) });
      const found = (body.resourceSpans as { scopeSpans: { spans: Span[] }[] }[]).flatMap((each) =>
        each.scopeSpans.flatMap((scope) => scope.spans),
      );
      for (const span of found) spans.set(`${span.traceId} ${span.spanId}`, span);
      if (found[0]) arrivals.push(found[0].traceId);
      return sendJson(response, 200, { partialSuccess: {} });
    },
  });
  return { ...server, spans, arrivals, authorization };
}

/** Ends connections after the work, without an answer, so often. */
function losing() {
  let left = 0;
  return {
    lose(times: number) {
      left = times;
    },
    /** Whether this answer is lost. */
    loses(response: ServerResponse): boolean {
      if (left === 0) return false;
      left -= 1;
      response.destroy();
      return true;
    },
  };
}

/** grafana.com/docs: POST /api/annotations, and GET with `tags`, all of which must match. */
export async function startGrafana() {
  const annotations: (Body & { tags: string[] })[] = [];
  const { lose, loses } = losing();
  const server = await startLoopback({
    route: (request) => request.method ?? '',
    async answer(request, response) {
      const url = new URL(request.url ?? '', 'http://localhost');
      if (request.headers.authorization !== `Bearer ${GRAFANA_TOKEN}`)
        return sendJson(response, 401, { message: 'Invalid API key' });
      if (url.pathname !== '/api/annotations')
        return sendJson(response, 404, { message: 'Not found' });
      if (request.method === 'GET') {
        const tags = url.searchParams.getAll('tags');
        const isIt = (each: { tags: string[] }) => tags.every((tag) => each.tags.includes(tag));
        return sendJson(response, 200, annotations.filter(isIt).slice(0, 1));
      }
      annotations.push(JSON.parse(String(await readBody(request))));
      if (loses(response)) return undefined;
      return sendJson(response, 200, { message: 'Annotation added', id: annotations.length });
    },
  });
  return { ...server, annotations, lose };
}

/** docs.sentry.io/api/releases: 201 for a new release, 208 for a known one; a deploy is always new. */
export async function startSentry() {
  const releases = new Map<string, Body>();
  const deploys: (Body & { version: string })[] = [];
  const { lose, loses } = losing();
  const server = await startLoopback({
    route: (request) => `${request.method} ${/deploys/.test(request.url ?? '') ? 'deploys' : ''}`,
    async answer(request, response) {
      if (request.headers.authorization !== `Bearer ${SENTRY_TOKEN}`)
        return sendJson(response, 401, { detail: 'Invalid token' });
      const path = decodeURIComponent((request.url ?? '').split('?')[0] ?? '');
      const [, version, isDeploys] =
        /^\/api\/0\/organizations\/acme\/releases\/(?:([^/]+)\/(deploys)\/)?$/.exec(path) ?? [];
      if (!path.startsWith('/api/0/organizations/acme/releases/'))
        return sendJson(response, 404, { detail: 'The requested resource does not exist' });
      const own = deploys.filter((each) => each.version === version);
      if (request.method === 'GET')
        return sendJson(response, 200, isDeploys ? own : [...releases.values()]);
      const body = JSON.parse(String(await readBody(request))) as Body;
      if (!isDeploys) {
        const name = String(body.version);
        if (!Array.isArray(body.projects) || /[\n\r\t/\\]/.test(name))
          return sendJson(response, 400, { detail: 'Invalid release' });
        const status = releases.has(name) ? 208 : 201;
        releases.set(name, body);
        return sendJson(response, status, body);
      }
      if (!releases.has(version ?? '')) return sendJson(response, 404, { detail: 'no release' });
      deploys.push({ ...body, version: version ?? '' });
      if (loses(response)) return undefined;
      return sendJson(response, 201, { id: String(deploys.length), ...body });
    },
  });
  return { ...server, releases, deploys, lose };
}

export const GRAFANA_TOKEN = 'glsa_gr4fana-token-of-the-test';
export const SENTRY_TOKEN = 'sntrys_s3ntry-token-of-the-test';

/** All three, and the root. */
export async function makeTelemetryWorld() {
  const [collector, grafana, sentry] = await Promise.all([
    startCollector(),
    startGrafana(),
    startSentry(),
  ]);
  const root = temporaryFolder('root');
  const config = `telemetry:
  otlp: { url: "${collector.url}", headers: { Authorization: "${collector.authorization}" } }
  grafana: { url: "${grafana.url}", token: ${GRAFANA_TOKEN} }
  sentry: { url: "${sentry.url}", org: acme, projects: [web], token: ${SENTRY_TOKEN} }
`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  const close = () =>
    Promise.all([collector, grafana, sentry].map((each: Loopback) => each.close()));
  return { root, collector, grafana, sentry, close };
}

const START = Date.now() + 60_000;

/** The end of a deploy of shop; each is a second after the one before. */
export const ended = (number: number, event_type = 'DeploySuccess', more: object = {}) => ({
  event_type,
  project: 'shop',
  instance: 'default',
  version: `v${number}`,
  deploy_id: number.toString(16).padStart(8, '0'),
  commit: number.toString(16).padStart(40, 'c'),
  timestamp: new Date(START + number * 1_000).toISOString(),
  duration_ms: 900,
  steps: [
    { stage: 'build', ms: 600 },
    { stage: 'start', ms: 200 },
  ],
  ...more,
});

/** Appends records to the audit log. */
export const emit = (root: string, ...events: object[]) =>
  run('runner-audit', ['emit'], {
    root,
    stdin: events.map((each) => `${JSON.stringify(each)}\n`).join(''),
  });
export const flush = (root: string, ...more: string[]) =>
  run('runner-notify', ['flush', '--now', '--json', ...more], { root });
