/** The services of `telemetry`: what each records of a deploy, and the way to it. */
import type { TelemetrySettings, TelemetryTarget } from '@runner/common/config/telemetry';
import type { TelemetryName } from '@runner/common/config/telemetry-schema';
import type { HttpAnswer } from '@runner/common/http/request';
import { isObject, jsonObject } from '@runner/common/text/json';
import { durationText } from '@runner/common/text/time';
import { TEST_TITLE } from '../../message/announcement.ts';
import type { Announceable } from '../../message/records.ts';
import type { Channel, Message, Rate, RequestLine, SendOutcome } from '../../service/contract.ts';
import {
  type Call,
  exchange,
  foreignAnswer,
  REDIRECT_HINT,
  refusedAnswer,
} from '../../service/exchange.ts';
import { type Fields, wordOf } from '../../service/fields.ts';
import { onlyForm } from '../../service/section.ts';
import { NO_TRACE, traceOf, tracesUrl } from './otlp.ts';
import { type PipelineRun, runOf } from './pipeline-run.ts';

/** None publishes a limit for this; a small server of them keeps up. */
const RATES: readonly Rate[] = [{ count: 10, per: 1_000 }];
/** Largest list that is looked through, in bytes: Sentry's has 100 deploys. */
const LIST_MAX = 1_048_576;
const DELIVERED: SendOutcome = { class: 'delivered', rest: 0 };

/** Makes a request of a service; without a body it is a GET. */
type Ask = (path: string, body?: Fields, judged?: typeof judge) => Promise<SendOutcome>;

interface TelemetryService {
  /** For people. */
  readonly title: string;
  /** Undefined: the service does not record such a run. */
  payloadOf(run: PipelineRun): Fields | undefined;
  send(ask: Ask, payload: Fields, target: TelemetryTarget): Promise<SendOutcome>;
  /** Shows that the service accepts the credentials; records nothing but Grafana's annotation. */
  test(ask: Ask, target: TelemetryTarget): Promise<SendOutcome>;
}

/** Makes a request only if a list does not have what it would add: an earlier answer may have been lost. */
async function unlessListed(
  ask: Ask,
  list: string,
  isIt: (item: Fields) => boolean,
  add: () => Promise<SendOutcome>,
): Promise<SendOutcome> {
  let isListed = false;
  const looked = await ask(list, undefined, (call, answer) => {
    const { items } = jsonObject(`{"items":${answer.body}}`) ?? {};
    isListed = Array.isArray(items) && items.some((item) => isObject(item) && isIt(item));
    // A token may be allowed to write only.
    return answer.status === 403 || Array.isArray(items) ? DELIVERED : judge(call, answer);
  });
  return looked.class !== 'delivered' || isListed ? looked : add();
}

/** Grafana and Sentry keep no id that a repeat would share: the deploy is looked for. */
const TAG = 'deploy:';

/** Characters that Sentry refuses in the name of a release. */
const releaseOf = ({ app, version }: PipelineRun) =>
  `${app}@${version}`.replace(/[/\\\s]/g, '-').slice(0, 200);

export const TELEMETRY: Readonly<Record<TelemetryName, TelemetryService>> = {
  otlp: {
    title: 'OpenTelemetry',
    payloadOf: traceOf,
    send: (ask, payload) => ask('', payload, judgeTrace),
    test: (ask) => ask('', NO_TRACE),
  },
  grafana: {
    title: 'Grafana',
    payloadOf({ app, version, action, result, start, end, deployId, reason }) {
      const what = action === 'deploy' ? `${app} ${version}` : `${app} rolled back to ${version}`;
      const how =
        result === 'success' ? '' : ` failed${result === 'failure' ? '' : ', interrupted'}`;
      const words = [`${what}${how}, ${durationText(end - start)}`, reason].filter(Boolean);
      const tags = ['runner', app, action, result, `${TAG}${deployId} ${action}`];
      return { time: start, timeEnd: end, tags, text: words.join(': ') };
    },
    send(ask, payload) {
      const tag = (payload.tags as string[]).find((each) => each.startsWith(TAG)) ?? '';
      const list = `/api/annotations?limit=1&tags=${encodeURIComponent(tag)}`;
      return unlessListed(
        ask,
        list,
        () => true,
        () => ask('/api/annotations', payload),
      );
    },
    test: (ask) => ask('/api/annotations', { tags: ['runner', 'test'], text: TEST_TITLE }),
  },
  sentry: {
    title: 'Sentry',
    payloadOf(run) {
      if (run.result !== 'success') return undefined;
      const iso = (time: number) => new Date(time).toISOString();
      const { commit, environments, start, end, deployId, action } = run;
      return {
        release: { version: releaseOf(run), ...(commit && { ref: commit }) },
        deploys: environments.map((environment) => ({
          environment,
          name: `${action} ${deployId}`,
          dateStarted: iso(start),
          dateFinished: iso(end),
        })),
      };
    },
    async send(ask, { release, deploys }, { org, projects }) {
      const path = `/api/0/organizations/${encodeURIComponent(org)}/releases/`;
      const made = await ask(path, { ...(release as Fields), projects });
      if (made.class !== 'delivered') return made;
      const list = `${path}${encodeURIComponent(wordOf((release as Fields).version))}/deploys/`;
      for (const deploy of deploys as readonly Fields[]) {
        const isIt = ({ name, environment }: Fields) =>
          name === deploy.name && environment === deploy.environment;
        const done = await unlessListed(ask, list, isIt, () => ask(list, deploy));
        if (done.class !== 'delivered') return done;
      }
      return DELIVERED;
    },
    test: (ask, { org }) =>
      ask(
        `/api/0/organizations/${encodeURIComponent(org)}/releases/?per_page=1`,
        undefined,
        listed,
      ),
  },
};

/** The message of a record; undefined if the service does not record it. */
export function telemetryMessage(name: TelemetryName, record: Announceable): Message | undefined {
  const run = runOf(record);
  const payload = run && TELEMETRY[name].payloadOf(run);
  return payload && onlyForm(payload);
}

/** Undefined when the service is not configured. */
export function connectTelemetry(
  name: TelemetryName,
  settings: TelemetrySettings,
  line: RequestLine,
): Channel | undefined {
  const target = settings[name];
  if (!target) return undefined;
  const call: Call = { ...line, method: `${name} request` };
  const askWithin =
    (timeout?: number): Ask =>
    (path, body, judged = judge) => {
      const url = name === 'otlp' ? tracesUrl(target.url) : `${target.url}${path}`;
      const secrets = Object.entries(target.headers);
      const headers = () =>
        Object.fromEntries(secrets.map(([key, secret]) => [key, secret.reveal()]));
      const sent = body ? ({ method: 'POST', body } as const) : ({ method: 'GET' } as const);
      return exchange(call, url, { ...sent, headers, timeout, limit: LIST_MAX }, judged);
    };
  const test = () => TELEMETRY[name].test(askWithin(), target);
  return {
    rates: RATES,
    send: ({ payload }, timeout) => TELEMETRY[name].send(askWithin(timeout), payload, target),
    inspect: async () => ({ healthy: null, facts: {}, advice: [] }),
    sendTest: test,
  };
}

/** 2xx with JSON, or with nothing, is success; a token that is refused stops the service until it is fixed. */
function judge(call: Call, answer: HttpAnswer): SendOutcome {
  const { status, body } = answer;
  const said = jsonObject(body);
  if (status >= 200 && status < 300)
    return said || body.trim() === '' ? DELIVERED : foreignAnswer(call, answer);
  const words = wordOf(said?.message) || wordOf(said?.detail);
  return refusedAnswer(call, answer, {
    status: status < 400 ? 503 : status === 403 ? 401 : status,
    code: status,
    description: words || `the service answers with HTTP status ${status}`,
    hint: status < 400 ? REDIRECT_HINT : 'check section telemetry of config.yml',
  });
}

/** A collector reports with status 200 that it did not record a trace, or a part of it: a repeat is refused again. */
function judgeTrace(call: Call, answer: HttpAnswer): SendOutcome {
  const { partialSuccess } = jsonObject(answer.body) ?? {};
  const { rejectedSpans, errorMessage } = isObject(partialSuccess) ? partialSuccess : {};
  if (answer.status !== 200 || !(Number(rejectedSpans) > 0)) return judge(call, answer);
  return refusedAnswer(call, answer, {
    status: 400,
    code: answer.status,
    description: `${rejectedSpans} spans rejected: ${wordOf(errorMessage) || 'no reason given'}`,
    hint: 'see the limits and the log of the collector',
  });
}

/** The same where a list is the answer. */
function listed(call: Call, answer: HttpAnswer): SendOutcome {
  return answer.status === 200 ? DELIVERED : judge(call, answer);
}
