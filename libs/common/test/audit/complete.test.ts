import { completeEvent, ERROR_MAX } from '@runner/common/audit/complete';
import { newDeployId } from '@runner/common/audit/events';
import { readRecord } from '@runner/common/audit/record';
import { Failure } from '@runner/common/foundation/failure';
import { withExactNumbers } from '@runner/common/text/json';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';

const NOW = '2026-02-03T04:05:06.789Z';
const completion = {
  now: () => new Date(NOW),
  random: () => 0xabababab / 2 ** 32,
};
const LEAST = { event_type: 'DeployStarted', project: 'blog', version: 'v1' };
const complete = (input: unknown) => completeEvent(input, completion);
const said = (input: unknown) => told(() => complete(input));

test('times of any zone become UTC with milliseconds', () => {
  for (const [given, time] of [
    ['2026-01-01T02:00:00+02:00', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00Z', '2026-01-01T00:00:00.000Z'],
    ['2025-12-31T19:30:00-0430', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123Z'],
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
  ]) {
    assert.is(complete({ ...LEAST, timestamp: given }).timestamp, time);
  }
});

const TYPES =
  'DeployStarted, DeploySuccess, DeployFailure, RollbackSuccess, AppDown, AppUp, ApprovalWanted, CertEnding, CheckRecovered, DeployWaiting, HeadBehind, JobFailed, JobMissed, JobRecovered, JobSlow, PlanApproved, PlanExpired, TagChanged, TokenEnding, TokenRenewed, WatchEnded, WatchFailed, WatchPassed, AppStarted, AppStopped, AppRestarted, ContractRun, TrafficHeld, TrafficReleased, PreviewReady, PreviewFailed, PreviewRemoved';
const BAD: readonly (readonly [input: unknown, why: string])[] = [
  [null, 'is not a JSON object'],
  [undefined, 'is not a JSON object'],
  [[], 'is not a JSON object'],
  ['DeployStarted', 'is not a JSON object'],
  [{}, `needs an event_type that is one of ${TYPES}`],
  [{ ...LEAST, event_type: 'JobFailed' }, 'needs a job that is the name of one'],
  [{ ...LEAST, event_type: 'JobSlow', job: '../../x' }, 'needs a job that is the name of one'],
  [{ ...LEAST, job: 5 }, 'needs a job that is the name of one'],
  [{ ...LEAST, event_type: 'GuardBypassed' }, `needs an event_type that is one of ${TYPES}`],
  [{ ...LEAST, event_type: 'deploystarted' }, `needs an event_type that is one of ${TYPES}`],
  [{ ...LEAST, event_type: ['DeployStarted'] }, `needs an event_type that is one of ${TYPES}`],
  [{ ...LEAST, event_type: null }, `needs an event_type that is one of ${TYPES}`],
  [{ ...LEAST, event: 'DeployFailure' }, 'has two different values in event_type and event'],
  [{ ...LEAST, app: 'shop' }, 'has two different values in project and app'],
  [{ ...LEAST, project: undefined }, 'needs a text in project'],
  [{ ...LEAST, project: '' }, 'needs a text in project'],
  [{ ...LEAST, project: 7 }, 'needs a text in project'],
  [{ ...LEAST, project: '../x' }, 'needs a project that is an app name'],
  [{ ...LEAST, project: '__proto__' }, 'needs a project that is an app name'],
  [{ ...LEAST, project: 'x'.repeat(201) }, 'has more than 200 characters in project'],
  [{ ...LEAST, version: undefined }, 'needs a text in version'],
  [{ ...LEAST, version: 1.2 }, 'needs a text in version'],
  [{ ...LEAST, version: 'x'.repeat(201) }, 'has more than 200 characters in version'],
  [{ ...LEAST, instance: '' }, 'needs a text in instance'],
  [{ ...LEAST, instance: null }, 'needs a text in instance'],
  ...['', 'abcdefg', 'abcdefghi', 'abcd efg', 'abcdefg\n', 12_345_678, null].map(
    (deploy_id) => [{ ...LEAST, deploy_id }, 'needs a deploy_id of 8 letters or digits'] as const,
  ),
  ...[
    'now',
    '',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-13-01T00:00:00Z',
    '2026-01-01T25:00:00Z',
    '01/02/2026',
    '2026-01-01T00:00:00Z\n',
    1_700_000_000,
    null,
  ].map(
    (timestamp) => [{ ...LEAST, timestamp }, 'needs a timestamp in ISO 8601 with a zone'] as const,
  ),
  ...[
    'commit',
    'trigger',
    'previous_version',
    'domain',
    'error',
    'stage',
    'log',
    'reason',
    'from_version',
  ].flatMap((field) =>
    [5, {}, ['x'], true].map(
      (value) => [{ ...LEAST, [field]: value }, `needs a text in ${field}`] as const,
    ),
  ),
  ...['5', -1, Number.NaN, Number.POSITIVE_INFINITY, {}, null].map(
    (duration_ms) =>
      [{ ...LEAST, duration_ms }, 'needs a number of milliseconds in duration_ms'] as const,
  ),
];

test('an invalid event is refused with the reason', () => {
  for (const [input, why] of BAD)
    assert.is(said(input), `event_invalid: the event ${why}`, JSON.stringify(input));
});

test('a cut error has no broken character and never exceeds the limit', () => {
  const text = fc.tuple(
    fc.constantFrom('é', '日', '🐱', 'x', '\ufffd'),
    fc.nat(3),
    fc.integer({ min: ERROR_MAX - 4, max: 3 * ERROR_MAX }),
  );
  fc.assert(
    fc.property(text, ([character, shift, bytes]) => {
      const error = `${'a'.repeat(shift)}${character.repeat(Math.ceil(bytes / Buffer.byteLength(character)))}`;
      const event = complete({ ...LEAST, error });
      const kept = event.error as string;
      assert.ok(Buffer.byteLength(kept) <= ERROR_MAX);
      assert.is(event.truncated, kept === error ? undefined : true);
      if (character !== '\ufffd') assert.not.ok(kept.includes('\ufffd'));
      assert.ok(Buffer.byteLength(kept) > Math.min(Buffer.byteLength(error), ERROR_MAX) - 32);
    }),
    { numRuns: 60 },
  );
});

test('a lone surrogate becomes the replacement character', () => {
  const event = complete({ ...LEAST, version: 'v\ud800', error: '\udc00x' });
  assert.equal([event.version, event.error], ['v\ufffd', '\ufffdx']);
});

test('any JSON value is completed or refused as an invalid event', () => {
  const names = [
    'event',
    'event_type',
    'app',
    'project',
    'version',
    'instance',
    'deploy_id',
    'timestamp',
    'error',
    'duration_ms',
    'commit',
    '__proto__',
    'constructor',
    'toString',
    'truncated',
  ];
  const values = ['DeployStarted', 'DeployFailure', 'blog', 'v1', 'abcd1234', NOW];
  const object = fc.dictionary(
    fc.constantFrom(...names),
    fc.oneof(fc.constantFrom<unknown>(...values), fc.jsonValue()),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        object.map((fields) => ({ ...LEAST, ...fields })),
        object,
        fc.jsonValue(),
      ),
      (input) => {
        try {
          const event = complete(input);
          const text = withExactNumbers(JSON.stringify(event));
          assert.is(withExactNumbers(JSON.stringify(complete(event))), text);
          assert.is(withExactNumbers(JSON.stringify(readRecord(text))), text);
        } catch (error) {
          if (!(error instanceof Failure) || error.code !== 'event_invalid') throw error;
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('numbers that JavaScript would change stay as they were written, but for durations', () => {
  const odd = '"a":1e400,"b":[1.000000000000000000001,-1E-400],"c":12345678901234567890';
  const same = '"d":0.30000000000000004,"e":1e+21,"f":"x: 1e400, 1.000000000000000000001"';
  const event = complete(readRecord(`{${JSON.stringify(LEAST).slice(1, -1)},${odd},${same}}`));
  assert.match(withExactNumbers(JSON.stringify(event)), `${odd},${same}`);
  const took = (written: string) =>
    complete(readRecord(`{${JSON.stringify(LEAST).slice(1, -1)},"duration_ms":${written}}`));
  assert.is(took('12.300000000000000710').duration_ms, 12.3);
  assert.is(
    told(() => took('1e400')),
    'event_invalid: the event needs a number of milliseconds in duration_ms',
  );
  for (const bad of ['01234567890123456789', '1.2.12345678901234567890', '1"123456789012345678"'])
    assert.is(readRecord(`{"a":${bad}}`), undefined);
  assert.is(readRecord('{12345678901234567890:1}'), undefined);
});

test('a deploy_id is eight hexadecimal characters', () => {
  assert.is(
    newDeployId(() => 0x0001feff / 2 ** 32),
    '0001feff',
  );
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (chance) => {
      assert.match(
        newDeployId(() => chance),
        /^[0-9a-f]{8}$/,
      );
    }),
  );
});

test.run();
