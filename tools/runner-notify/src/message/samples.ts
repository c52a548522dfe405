/** A record of every kind, to show the messages. */
import type { Announceable } from './records.ts';

/** Enough lines for an error that is longer than one message shows. */
const STEPS = 24;

/** Started, completed, failed with a short error, failed with a long one, rolled back. */
export function sampleRecords(deployId: string, now: Date): Announceable[] {
  const common = {
    timestamp: now.toISOString(),
    instance: 'default',
    version: 'v1.3.0',
    deploy_id: deployId,
    previous_version: 'v1.2.9',
    domain: 'shop.example.org',
  };
  const record = (kind: Announceable['kind'], fields: object): Announceable => ({
    kind,
    project: 'shop',
    fields: { ...common, event_type: kind, project: 'shop', ...fields },
  });
  return [
    record('DeployStarted', {}),
    record('DeploySuccess', { duration_ms: 65_000 }),
    record('DeployFailure', {
      error: 'health: http://127.0.0.1:3000/health answered 500, wanted 200-299',
    }),
    record('DeployFailure', { error: longError() }),
    record('RollbackSuccess', {
      version: 'v1.2.9',
      from_version: 'v1.3.0',
      reason: 'health: answered 500, wanted 200-299',
    }),
  ];
}

function longError(): string {
  const steps = Array.from(
    { length: STEPS },
    (_, index) => `  compiled src/pages/page-${index + 1}.tsx in ${index + 20} ms, 14 kB`,
  );
  return [
    'build: `npm run build` exited with status 2',
    ...steps,
    "src/cart.ts:17:9 - error TS2322: Type 'string' is not assignable to type 'number'.",
    '',
    '17   const total: number = sum(items);',
    '           ~~~~~',
    '',
    'Found 1 error in src/cart.ts:17',
  ].join('\n');
}
