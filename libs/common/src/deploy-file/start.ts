/** `start`: how an instance is started. */
import { START_KEYS } from './schema.ts';
import { type Fail, milliseconds } from './values.ts';

/** Time limits of starting and stopping, in ms. */
interface StartLimits {
  readonly timeout: number;
  readonly stopTimeout: number;
}

export type Start =
  | ({ readonly type: 'process' | 'command'; readonly run: string } & StartLimits)
  | ({
      readonly type: 'systemd';
      /** `%i`, or the place before the dot of a template `app@.service`, becomes the instance's name. */
      readonly unit: string;
      /** The user's systemd instead of the system's. */
      readonly user: boolean;
      /** `reload-or-restart` instead of `restart`. */
      readonly reload: boolean;
    } & StartLimits)
  | ({ readonly type: 'compose'; readonly file: string } & StartLimits)
  | ({ readonly type: 'pm2'; readonly config: string } & StartLimits)
  | ({ readonly type: 'pm2'; readonly run: string } & StartLimits)
  | { readonly type: 'none' };

export type StartOf<T extends Start['type']> = Extract<Start, { type: T }>;

/** Default of `start.stop_timeout`, in ms. */
export const STOP_TIMEOUTS = {
  process: 10_000,
  command: 60_000,
  pm2: 60_000,
  systemd: 90_000,
  compose: 90_000,
} as const;

export function startOf(start: Map<string, unknown> | undefined, fail: Fail): Start {
  const type = (start?.get('type') ?? 'none') as Start['type'];
  const { needs, may }: { needs: readonly string[]; may: readonly string[] } = START_KEYS[type];
  const common = ['type', 'timeout', 'stop_timeout'];
  const given = [...(start?.keys() ?? [])].filter((key) => !common.includes(key));
  const foreign = given.find((key) => !needs.includes(key) && !may.includes(key));
  if (foreign) throw fail(`start.${foreign}`, `does not go with type ${type}`);
  const needed = given.filter((key) => needs.includes(key));
  if (needs.length > 0 && needed.length === 0)
    throw fail('start', `type ${type} needs the key ${needs.join(' or ')}`);
  if (needed.length > 1) throw fail('start', `type ${type} takes one of ${needs.join(', ')}`);
  const text = (key: string) => start?.get(key) as string;
  if (type === 'none') return { type };
  const limits = {
    timeout: milliseconds(start?.get('timeout'), 60_000),
    stopTimeout: milliseconds(start?.get('stop_timeout'), STOP_TIMEOUTS[type]),
  };
  const is = (key: string) => start?.get(key) === true;
  if (type === 'systemd')
    return { type, unit: text('unit'), user: is('user'), reload: is('reload'), ...limits };
  if (type === 'compose') return { type, file: text('file') ?? 'compose.yaml', ...limits };
  if (type !== 'pm2') return { type, run: text('run'), ...limits };
  if (needed[0] === 'config') return { type, config: text('config'), ...limits };
  return { type, run: text('run'), ...limits };
}
